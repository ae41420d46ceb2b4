/* power_contract.c - the power is cut, again and again, also while the store recovers from the last
 * cut: nothing acknowledged is lost, nothing is there by half, work goes on to its end.
 *
 *   build/spec/core/store/sqlite/power_contract [CUTS] [SEED]     also from the environment
 *
 * A life has a seed and ten cuts, on one store. What went wrong is told with the seed: CUTS 1 and
 * that SEED play the same life again. */
#include "base/json.h"
#include "power_disk.h"
#include "power_trial.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tally *tally;

/* ---- many lives ---- */

static int run_lives(const struct mode *mode, long cuts, uint64_t seed, int at, int of) {
    char root[48];
    snprintf(root, sizeof root, "%s/moonshift-power-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(root))
        return 1;
    for (uint64_t i = (uint64_t)at; __atomic_load_n(&tally->cuts, __ATOMIC_RELAXED) < cuts;
         i += (uint64_t)of) {
        trial_run(root, mode, seed + i, tally);
    }
    disk_forget();
    rmdir(root);
    fflush(stdout);
    return 0;
}

/* In as many processes as there are processors. */
static bool run_mode(const struct mode *mode, long cuts, uint64_t seed) {
    int processes = cuts > 100 ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 1, failed = 0;
    *tally = (struct tally){0};
    fflush(stdout);
    if (processes == 1)
        failed = run_lives(mode, cuts, seed, 0, 1);
    for (int i = 0; processes > 1 && i < processes; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(run_lives(mode, cuts, seed, i, processes));
        failed += child < 0;
    }
    for (int status; wait(&status) > 0;)
        if (status != 0) {
            printf("# a process ended with status %#x\n", (unsigned)status);
            failed++;
        }
    printf("# %s, seed %llu: %ld cuts in %ld lives; %ld fine, %ld lost, %ld damaged, %ld stuck\n",
           mode->name, (unsigned long long)seed, tally->cuts, tally->lives, tally->verdicts[FINE],
           tally->verdicts[LOST], tally->verdicts[DAMAGED], tally->verdicts[STUCK]);
    return failed == 0;
}

static bool every_kind(void) {
    bool every = true;
    for (int phase = 0; phase < PHASES; phase++) {
        long sum = 0;
        printf("# %s:", phase_name((enum phase)phase));
        for (int kind = 0; kind < POWER_KINDS; kind++) {
            sum += tally->hits[phase][kind];
            if (tally->hits[phase][kind])
                printf(" %s %ld,", power_kind_name((enum power_kind)kind),
                       tally->hits[phase][kind]);
        }
        printf(" in all %ld\n", sum);
        every = every && sum > 0;
    }
    for (int kind = 0; kind < POWER_KINDS; kind++) {
        long sum = 0;
        for (int phase = 0; phase < PHASES; phase++)
            sum += tally->hits[phase][kind];
        every = every && (sum > 0 || kind == POWER_READ || kind == POWER_OTHER);
    }
    printf("# after %ld cuts the transaction in the making was there, whole\n", tally->in_flight);
    return every && tally->in_flight > 0;
}

static int passed, failed;

static void say(bool fine, const char *sentence) {
    printf("%s - %s\n", fine ? "ok" : "not ok", sentence);
    *(fine ? &passed : &failed) += 1;
    fflush(stdout);
}

/* The harness finds what is wrong where something is. */
static void find_faults(long cuts, uint64_t seed) {
    const struct mode careless = {"commits without a sync", .careless = true, .silent = true};
    const struct mode lying = {"syncs that lie", .lies = true, .silent = true};
    const struct mode early = {"acknowledged before the commit", .early = true, .silent = true};
    bool ran = run_mode(&careless, cuts, seed);
    say(ran && tally->verdicts[LOST] > 0, "commits without a sync lose what was acknowledged");
    say(tally->verdicts[DAMAGED] + tally->verdicts[STUCK] == 0, "and damages nothing");
    ran = run_mode(&lying, cuts, seed);
    say(ran && tally->verdicts[LOST] + tally->verdicts[DAMAGED] > 0,
        "a disk that lies about its syncs is found out");
    ran = run_mode(&early, cuts, seed);
    say(ran && tally->verdicts[LOST] > 0, "what is acknowledged before its commit is found out");
}

static uint64_t number(const char *argument, const char *name, uint64_t otherwise) {
    const char *text = argument ? argument : getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

int main(int count, char **arguments) {
    long cuts = (long)number(count > 1 ? arguments[1] : NULL, "CUTS", 10000);
    uint64_t seed = number(count > 2 ? arguments[2] : NULL, "SEED", 1);
    void *shared =
        mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (cuts < 1 || shared == MAP_FAILED || !power_install())
        return 2;
    tally = shared;
    json_setup();
    json_object_seed(1);
    const struct mode honest = {.name = "synchronous=FULL"};
    bool ran = run_mode(&honest, cuts, seed);
    say(ran && tally->verdicts[FINE] == tally->lives,
        "power cuts lose nothing acknowledged, leave nothing by half, and work goes on");
    if (cuts > 1000)
        say(every_kind(), "cuts hit every kind of operation, new stores, upgrades, recovery");
    if (cuts > 1)
        find_faults(cuts / 20 + 50, seed);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
