local program = require "spec.support.program"

describe("import crontab", function()
  local place

  before_each(function()
    place = program.place {}
  end)

  after_each(function()
    place.clean()
  end)

  -- The status, the names of the files that were written, and what was said without the file's.
  local function import(text, ...)
    place.write("my.crontab", text)
    local status, output, errors = place.run("import", "crontab", "my.crontab", "--zone", "UTC",
      ...)
    local names = output:gsub("%./schedules/", ""):gsub("%.lua\n", " "):gsub("%./moonshift ", "")
    return status, names, (errors:gsub("my%.crontab: ", ""):gsub("^moonshift: ", ""))
  end

  -- The table that the file returns.
  local function schedule(name)
    return dofile(place.path .. "/schedules/" .. name .. ".lua")
  end

  it("writes a file for each line that runs something, named after its program", function()
    local status, names, said = import [[
# m h dom mon dow
*/5 * * * * cd /srv/shop && /usr/bin/php artisan schedule:run >> /dev/null 2>&1
0 3 * * 1-5 /usr/local/bin/backup.sh --full
30 3 * * sat nice -n 19 /usr/local/bin/backup.sh --copy
@daily flock -n /run/lock/x python3 /opt/report.py --day $(date +\%u)
17 * * * * cd / && run-parts --report /etc/cron.hourly
0 4 * * * [ -x /usr/bin/mrtg ] && LANG=C /usr/bin/mrtg /etc/mrtg.cfg
0 5 * * * "$HOME/bin/x"
]]
    assert.same({ 0, "artisan backup backup-2 report cron-hourly mrtg line-8 ", "" },
      { status, names, said })
    assert.equal("*/5 * * * *", schedule("artisan").cycle)
    assert.equal(0, (place.run("check")))
  end)

  it("passes over what only waits or looks, and the text of a program", function()
    local _, names, said = import [[
@reboot sleep 30; /usr/local/bin/warmup
0 */12 * * * test -x /usr/bin/certbot && perl -e 'sleep int(rand(43200))' && certbot -q renew
*/10 * * * * [ -x /lib/clean ] && if [ ! -d /run/systemd/system ]; then /lib/sessionclean; fi
0 1 * * * if ! test -e /run/off; then sudo -u test /opt/mirror.sh; fi
0 2 * * * python3 -c 'print(1)'
0 3 * * * php -r 'echo 1;'
]]
    assert.same({ "warmup certbot sessionclean mirror print1 php ", "" }, { names, said })
  end)

  it("says which variables no shell would take", function()
    local status, names, said = import [[
A.B-C=1
"two words" = 'x'
"PLAIN"=y
0 1 * * * env
]]
    assert.same({ 0, "env " }, { status, names })
    assert.same({ "line 1: A.B-C=1: not carried over (a name has letters, digits and underscores)",
      "line 2: two words=x: not carried over (a name has letters, digits and underscores)" },
      { said:match "([^\n]*)\n([^\n]*)" })
    assert.same({ PLAIN = "y" }, schedule("env").payload.env)
  end)

  it("carries variables, shell, zone, input and percent signs over", function()
    import [[
SHELL=/bin/bash
PATH = "/opt/bin:/usr/bin"
A='two  words '
0 1 * * * one \% "x" \\%in %put\%%%end
end=5
CRON_TZ=Europe/Berlin
0 2 * * * two
]]
    assert.same({
      handler = "shell", cycle = "0 1 * * *", zone = "UTC",
      payload = { command = [[one % "x" \\]], stdin = "in \nput%\n\nend\n", shell = "/bin/bash",
        cwd = "~", env = { PATH = "/opt/bin:/usr/bin", A = "two  words " } },
    }, schedule("one"))
    local two = schedule "two"
    assert.same({ "Europe/Berlin", "5" }, { two.zone, two.payload.env["end"] })
  end)

  it("says by line what cannot be carried over, and carries the rest", function()
    local status, names, said = import [[
MAILTO=ops@example.org
MAILTO=""
61 * * * * a
5/10 * * * * b
0 */24 * * * c
@every 5m d
@fortnightly e
0 1 * * monday f
0 2 * *
0 3 * * *
0~30 4 * * * g
]]
    assert.same({ 0, "c " }, { status, names })
    local lines = {}
    for line in said:gmatch("[^\n]+") do
      lines[#lines + 1] = line
    end
    assert.matches("^line 1: MAILTO=ops@example.org: mail is not sent", lines[1])
    assert.same({
      'line 3: cron "61 * * * *": minute 61 is not in 0-59 (position 1)',
      'line 4: "5/10" in the minute: some crons run at 5 alone, others step on from it'
        .. ' (write 5 or 5-59/10)',
      'line 5: "*/24" in the hour means 0',
      'line 6: @every 5m: not of cron (write cycle = "R/PT5M")',
      "line 7: @fortnightly: unknown",
    }, { table.unpack(lines, 2, 6) })
    assert.matches("^line 8: cron", lines[7])
    assert.same({ "line 9: expected five fields and a command", "line 10: no command" },
      { table.unpack(lines, 8, 9) })
    assert.matches("^line 11: .*random value", lines[10])
    assert.equal("0 0 * * *", schedule("c").cycle)
  end)

  it("writes a schedule of the start for @reboot", function()
    import("@reboot /opt/start.sh --now\n")
    local start = schedule "start"
    assert.same({ "start", "/opt/start.sh --now" }, { start.at, start.payload.command })
    assert.same({}, { start.cycle, start.zone })
    assert.equal(0, (place.run("check")))
  end)

  it("takes a user from each line with --system", function()
    import("17 * * * * root cd / && run-parts /etc/cron.hourly\n@daily www-data /opt/x\n",
      "--system")
    assert.equal("root", schedule("cron-hourly").payload.user)
    assert.same({ "www-data", "/opt/x" },
      { schedule("x").payload.user, schedule("x").payload.command })
  end)

  it("reads a directory as cron does, with a user in each line", function()
    os.execute(("mkdir -p '%s/cron.d/sub'"):format(place.path))
    for name, text in pairs { ["php"] = "9 * * * * www-data /opt/clean\n", ["e2scrub_all"] =
      "10 3 * * * root /sbin/e2scrub -A\n", ["old.dpkg-old"] = "1 1 * * * root /bin/old\n",
      [".placeholder"] = "# nothing\n" } do
      place.write("cron.d/" .. name, text)
    end
    os.execute(("rmdir '%s/cron.d/sub'"):format(place.path))
    local _, output, said = place.run("import", "crontab", "cron.d", "-C", ".")
    assert.equal("./schedules/e2scrub.lua\n./schedules/clean.lua\n./moonshift.lua\n", output)
    assert.equal('"old.dpkg-old" is passed over, as cron does for its name\n', said)
    assert.same({ "www-data", "/opt/clean" },
      { schedule("clean").payload.user, schedule("clean").payload.command })
  end)

  it("writes run-parts in plain words", function()
    import([[
25 6 * * * root test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }
52 6 1 * * root test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.monthly )
17 * * * * root cd / && run-parts --report /etc/cron.hourly
0 1 * * * root cd /srv && run-parts --arg="$(date)" /srv/parts
]], "--system")
    local function words(name)
      return { schedule(name).payload.command, schedule(name).payload.cwd }
    end
    assert.same({ "test -x /usr/sbin/anacron || run-parts --report /etc/cron.daily", "/" },
      words "cron-daily")
    assert.same({ "test -x /usr/sbin/anacron || run-parts --report /etc/cron.monthly", "/" },
      words "cron-monthly")
    assert.same({ "run-parts --report /etc/cron.hourly", "/" }, words "cron-hourly")
    assert.same({ 'cd /srv && run-parts --arg="$(date)" /srv/parts', "~" }, words "parts")
    assert.matches("^%-%- Runs each program in /etc/cron.daily, unless /usr/sbin/anacron is there",
      io.open(place.path .. "/schedules/cron-daily.lua"):read "a")
  end)

  it("reads several files, and standard input", function()
    place.write("other", "0 1 * * * /bin/job\n")
    assert.equal("job other ", select(2, import("A=1\n0 2 * * * /bin/job\n0 3 * * * other\n",
      "other")):gsub("job%-2 ", ""))
    assert.is_nil(schedule("job-2").payload.env)
    local pipe = io.popen("echo '0 3 * * * /bin/input' | " .. place.line("import", "crontab", "-",
      "--json", "-C", place.path))
    local output = pipe:read "a"
    pipe:close()
    assert.truthy(output:find('"path":"schedules/input.lua"', 1, true), output)
  end)

  it("writes nothing over a file, and nothing at all with --dry-run", function()
    import("0 1 * * * /bin/a\n", "--dry-run")
    assert.is_nil(io.open(place.path .. "/schedules/a.lua"))
    os.execute(("mkdir -p '%s/schedules'"):format(place.path))
    place.write("schedules/b.lua", "return {}")
    local status, names, said = import "0 1 * * * /bin/a\n0 1 * * * /bin/b\n"
    assert.same({ "", '"./schedules/b.lua" is there already (nothing written)\n' }, { names, said })
    assert.truthy(status ~= 0)
    assert.is_nil(io.open(place.path .. "/schedules/a.lua"))
    assert.matches('^moonshift: "not there": ', (select(3, place.run("import", "crontab",
      "not there"))))
  end)

  it("runs as the crontab said, and a failure is found by its name", function()
    import("0 1 * * * echo good; exit 0\n0 2 * * * cat %one%two\n0 3 * * * /bin/false\n")
    place.run("deploy")
    for _, name in ipairs { "line-1", "cat", "false" } do
      place.run("schedule", "run", name)
    end
    place.run("run", "--drain")
    local _, output = place.run("log", "--schedule", "cat", "--outcome", "successful", "--json")
    assert.truthy(output:find('"lines":["one","two"]', 1, true), output)
    _, output = place.run("incident", "list", "--schedule", "false")
    assert.matches("command ended with status 1", output)
    assert.equal("", (select(2, place.run("incident", "list", "--schedule", "cat"))))
  end)
end)
