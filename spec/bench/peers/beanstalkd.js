// beanstalkd: node beanstalkd.js SOCKET JOBS. It has no call for many jobs: each is put by itself.
const net = require("net");

const [path, text] = process.argv.slice(2);
const jobs = Number(text), CONNECTIONS = 16;
const body = JSON.stringify({ order: 1, note: "x".repeat(80) });

// Asks one thing after the other; `next` makes a question from the answer, undefined: none.
function talk(next) {
  return new Promise((resolve) => {
    const socket = net.connect(path, () => socket.write(next("")));
    let heard = "";
    socket.on("data", (data) => {
      heard += data;
      const reserved = /^RESERVED \d+ (\d+)\r\n/.exec(heard);
      const wanted = reserved ? reserved[0].length + Number(reserved[1]) + 2 : heard.indexOf("\n") + 1;
      if (wanted === 0 || heard.length < wanted) return;
      const answer = heard;
      heard = "";
      const question = next(answer);
      if (question) socket.write(question);
      else { socket.destroy(); resolve(); }
    });
  });
}

async function many(next) {
  const from = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, () => talk(next)));
  return performance.now() - from;
}

(async () => {
  let put = 0, reserved = 0;
  const created = await many(() =>
    put++ < jobs ? `put 1000 0 600 ${body.length}\r\n${body}\r\n` : undefined);
  const drained = await many((answer) => {
    const job = /^RESERVED (\d+) /.exec(answer);
    if (job) return `delete ${job[1]}\r\n`;
    return reserved++ < jobs ? "reserve\r\n" : undefined;
  });
  console.log(JSON.stringify({ created: jobs / created * 1000, drained: jobs / drained * 1000 }));
})();
