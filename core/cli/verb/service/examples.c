#include "cli/verb/service/help.h"
#include <string.h>

#define LINE(text) "  moonshift " text "\n"

static const struct {
    const char *verb, *lines;
} examples[] = {
    {"init", LINE("init shop") LINE("init")},
    {"import crontab", LINE("import crontab my.crontab") LINE("import crontab /etc/cron.d")},
    {"run", LINE("run shop --workers 8") LINE("run shop --drain") LINE("run shop --watch")
                LINE("run shop --http 127.0.0.1:8080")
                    LINE("run shop --priority-range 50:   # urgent jobs only")},
    {"serve", LINE("serve shop --http 127.0.0.1:8080") LINE("serve --http unix:shop.sock")},
    {"health", LINE("health --http 127.0.0.1:8080") LINE("health --http unix:shop.sock --ready")},
    {"deploy", LINE("deploy shop")},
    {"check", LINE("check shop") LINE("check --store sqlite:shop/moonshift.db")},
    {"enqueue",
     LINE("enqueue mail '{\"to\":\"a@b.example\"}'") LINE("enqueue report --at \"tomorrow 08:00\"")
         LINE("enqueue mail --in 1h30m --priority 9 --lane a@b.example")
             LINE("enqueue import --cycle \"0 3 * * *\" --zone Europe/Berlin")
                 LINE("enqueue --from jobs.jsonl --request import-7")},
    {"job list", LINE("job list --state dead") LINE("job list --handler mail --sort due --limit 10")
                     LINE("job list --payload to=a@b.example --json")},
    {"job show", LINE("job show 4711")},
    {"job stack", LINE("job stack 4711")},
    {"job execute", LINE("job execute 4711") LINE("job execute 4711 --force")},
    {"job clone", LINE("job clone 4711") LINE("job clone 4711 '{\"to\":\"a@b.example\"}'")},
    {"job retry", LINE("job retry 4711") LINE("job retry --state dead --handler mail --retries 3")
                      LINE("job retry --state dead --due \"today 22:00\"")},
    {"job delete", LINE("job delete 4711 4712") LINE("job delete --handler mail --dry-run")
                       LINE("job delete --state dead --yes")},
    {"job cancel", LINE("job cancel 4711") LINE("job cancel --instance order-7 --yes")},
    {"job dead", LINE("job dead 4711")},
    {"job suspend", LINE("job suspend 4711") LINE("job suspend --tenant acme")},
    {"job activate", LINE("job activate --tenant acme")},
    {"job priority", LINE("job priority 90 4711") LINE("job priority 0 --handler mail")},
    {"job due", LINE("job due now 4711") LINE("job due \"tomorrow 08:00\" --handler report")},
    {"job recalculate", LINE("job recalculate 4711 --from-creation")},
    {"job cycle",
     LINE("job cycle R/PT2H 4711") LINE("job cycle \"0 3 * * *\" 4711 --zone Europe/Berlin")},
    {"job why", LINE("job why 4711")},
    {"job wait", LINE("job wait 4711 --timeout 5m")},
    {"definition list", LINE("definition list") LINE("definition list --suspended")},
    {"definition show", LINE("definition show mail")},
    {"definition priority",
     LINE("definition priority mail 50 --cascade") LINE("definition priority mail --clear")},
    {"definition limit",
     LINE("definition limit mail 2") LINE("definition limit mail 5 --cluster")
         LINE("definition limit mail none") LINE("definition limit mail --clear")},
    {"definition rate", LINE("definition rate mail 10/1m") LINE("definition rate mail --clear")},
    {"definition suspend", LINE("definition suspend mail --include-jobs")
                               LINE("definition suspend mail --at \"today 22:00\"")},
    {"definition activate", LINE("definition activate mail --include-jobs")},
    {"definition retries", LINE("definition retries mail 3")},
    {"instance list", LINE("instance list --process order") LINE("instance list --ended --key o-7")
                          LINE("instance list --variable \"amount>100\" --variable customer=ann")
                              LINE("instance list --text")},
    {"instance suspend", LINE("instance suspend order-7")},
    {"instance activate", LINE("instance activate order-7")},
    {"process check", LINE("process check") LINE("process check processes/order.bpmn --strict")},
    {"process show", LINE("process show order") LINE("process show order --lua")},
    {"process picture", LINE("process picture order >order.svg")
                            LINE("process picture order --heat --version 2 >order.svg")
                                LINE("process picture processes/order.bpmn >order.svg")},
    {"process list", LINE("process list")},
    {"process suspend", LINE("process suspend order --include-instances")},
    {"process activate", LINE("process activate order --include-instances")},
    {"instance show", LINE("instance show 4711")},
    {"instance picture",
     LINE("instance picture 4711 >order.svg") LINE("instance picture 4711 --text")},
    {"instance why", LINE("instance why 4711")},
    {"instance trail", LINE("instance trail 4711")},
    {"task list", LINE("task list --candidate clerks")},
    {"task claim", LINE("task claim 812")},
    {"task release", LINE("task release 812")},
    {"process start", LINE("process start order amount=1500 boss=ada --key o-7")
                          LINE("process start order --variables '{\"amount\":1500}'")
                              LINE("process start order --from orders.jsonl")},
    {"instance set", LINE("instance set 4711 amount=900")},
    {"instance trigger", LINE("instance trigger 4711 delivered")},
    {"instance cancel", LINE("instance cancel 4711 --reason \"ordered twice\"")},
    {"instance modify",
     LINE("instance modify 4711 --start-before pack sku=x --cancel approve --dry-run")},
    {"instance migrate", LINE("instance migrate 4711 --to 2 --dry-run")
                             LINE("instance migrate 4711 4712 --to 2 approve=check --equal")},
    {"instance restart", LINE("instance restart 4711 --start-before pack --initial")},
    {"task complete", LINE("task complete 812 approved=true")},
    {"task throw", LINE("task throw 812 sold_out --message \"no seats\"")},
    {"task escalate", LINE("task escalate 812 too_late")},
    {"message", LINE("message parcel --key o-7 weight=2.5") LINE(
                    "message parcel --key o-7 --keep 1h") LINE("message paid --business-key o-7")},
    {"conditions", LINE("conditions stock=3") LINE("conditions stock=3 --process order")},
    {"signal", LINE("signal prices_changed factor=1.2") LINE("signal stop --instance 4711")},
    {"message list", LINE("message list --name parcel")},
    {"batch create", LINE("batch create set-job-retries --retries 3 --state dead")
                         LINE("batch create enqueue --handler mail --ids-from ids.txt --wait")},
    {"batch list", LINE("batch list")},
    {"batch show", LINE("batch show 12")},
    {"batch failed", LINE("batch failed 12")},
    {"batch suspend", LINE("batch suspend 12") LINE("batch suspend 12 --jobs-only")},
    {"batch priority", LINE("batch priority 12 50")},
    {"batch removal-time", LINE("batch removal-time 12 never")},
    {"batch activate", LINE("batch activate 12")},
    {"batch retry-failed", LINE("batch retry-failed 12 --wait")},
    {"batch delete", LINE("batch delete 12")},
    {"incident list", LINE("incident list --by cause --open") LINE("incident list --open")
                          LINE("incident list --handler mail")},
    {"incident show", LINE("incident show 3")},
    {"incident annotate", LINE("incident annotate 3 \"the mail server was down\"")},
    {"incident removal-time", LINE("incident removal-time 3 2027-01-01")},
    {"incident resolve", LINE("incident resolve 3 --note \"sent by hand\"")},
    {"token create", LINE("token create ci --scope enqueue,read --expires P90D")
                         LINE("token create ocr --scope work --handler 'topic/*'")},
    {"token list", LINE("token list")},
    {"token revoke", LINE("token revoke ci")},
    {"deployment list", LINE("deployment list")},
    {"deployment register", LINE("deployment register 4 --name node-2")},
    {"deployment unregister", LINE("deployment unregister 4 --name node-2")},
    {"deployment rename", LINE("deployment rename 20261127 shop")},
    {"deployment delete", LINE("deployment delete 4 5") LINE("deployment delete 4 --dry-run")},
    {"executor list", LINE("executor list") LINE("executor list --gone")},
    {"executor drain", LINE("executor drain node-1")},
    {"executor resume", LINE("executor resume node-1")},
    {"schedule list", LINE("schedule list")},
    {"schedule show", LINE("schedule show nightly")},
    {"schedule next", LINE("schedule next nightly --count 3")},
    {"schedule pause", LINE("schedule pause nightly")},
    {"schedule resume", LINE("schedule resume nightly")},
    {"schedule run", LINE("schedule run nightly")},
    {"dates", LINE("dates \"0 8 * * MON-FRI\" --zone Europe/Berlin")
                  LINE("dates R3/1h --after \"2026-12-24 18:00\"")},
    {"log",
     LINE("log --outcome failed --handler mail") LINE("log --job 4711") LINE("log --after -1h")},
    {"operations", LINE("operations --after today") LINE("operations --who ada")},
    {"history status", LINE("history status")},
    {"history clean", LINE("history clean --dry-run")},
    {"history removal-time", LINE("history removal-time never --handler charge")
                                 LINE("history removal-time 2027-01-01 4711")},
    {"history delete", LINE("history delete --handler mail --before 2026-01-01")},
    {"backup", LINE("backup backup.db") LINE("backup backup.db --force")},
    {"store create",
     LINE("store create --store 'postgres://owner@db.example/jobs?sslmode=verify-full'")},
    {"store migrate",
     LINE("store migrate --store 'postgres://owner@db.example/jobs?sslmode=verify-full'")},
    {"store grants", LINE("store grants --store postgres://db.example/jobs | psql -d jobs")
                         LINE("store grants --store postgres://db.example/jobs --worker app")},
    {"store functions",
     LINE("store functions --store postgres://db.example/jobs --enqueuer shop | psql -d jobs")},
    {"restore", LINE("restore backup.db") LINE("restore backup.db --store trial.db")},
    {"stats", LINE("stats") LINE("stats --json")},
    {"top", LINE("top") LINE("top --once")},
    {"bench", LINE("bench --only drain --jobs 50000")},
    {"settings", LINE("settings") LINE("settings --names --lock-time 1m")},
    {"completion", LINE("completion bash >/etc/bash_completion.d/moonshift")},
    {"version", LINE("version")},
    {"help", LINE("help job list") LINE("help incident") LINE("help api")},
};

const char *examples_of(const char *verb) {
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(examples[i].verb, verb) == 0)
            return examples[i].lines;
    return NULL;
}
