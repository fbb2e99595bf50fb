// bullmq.mjs - BullMQ, measured as reeve is: one queue, filled and then drained by a worker process; one producer; and
// the pickup of an idle worker.
//
//     node bullmq.mjs MODULES SOCKET drain|enqueue|pickup [TASKS [CONCURRENCY [HANDLER_MS]]]
//
// HANDLER_MS: how long each handler of a drain sleeps.
// MODULES: the directory in which `npm install bullmq ioredis` was run. Flushes that Redis.
import { createRequire } from "node:module";
import path from "node:path";

const [modules, socket, what, tasksText = "20000", concurrencyText = "256", handlerText = "0"] = process.argv.slice(2);
const tasks = Number(tasksText);
const concurrency = Number(concurrencyText);
const handlerMs = Number(handlerText);
const handler = handlerMs > 0 ? () => new Promise((resolve) => setTimeout(resolve, handlerMs)) : async () => {};
const require = createRequire(path.resolve(modules, "index.js"));
const { Queue, Worker } = require("bullmq");
const { Redis } = require("ioredis");

const QUEUE = "bench";
const PAYLOAD = "x".repeat(100);
const WARM_UP = 50;
const connect = () => new Redis({ path: socket, maxRetriesPerRequest: null, enableAutoPipelining: true });
const now = () => Number(process.hrtime.bigint()) / 1e3; // microseconds
const options = { removeOnComplete: true, removeOnFail: true };

const redis = connect();
const info = async (section, field) => Number((await redis.info(section)).match(new RegExp(`^${field}:([0-9.]+)`, "m"))[1]);
const redisCpu = async () => (await info("cpu", "used_cpu_sys")) + (await info("cpu", "used_cpu_user"));

async function fill(queue, count, atOnce) {
  for (let done = 0; done < count; done += atOnce) {
    if (atOnce === 1) {
      await queue.add("noop", PAYLOAD, options);
      continue;
    }
    const jobs = [];
    for (let i = done; i < count && i < done + atOnce; i++) jobs.push({ name: "noop", data: PAYLOAD, opts: options });
    await queue.addBulk(jobs);
  }
}

// Runs a function and tells what it cost, as the other programs do.
async function measure(prefix, count, run) {
  const redisBefore = await redisCpu();
  const ownBefore = process.cpuUsage();
  const began = now();
  await run();
  const micros = now() - began;
  const own = process.cpuUsage(ownBefore);
  const used = ((await redisCpu()) - redisBefore) * 1e6;
  return (
    `${prefix}tasks_per_s=${Math.round((count / micros) * 1e6)} ${prefix}redis_us=${(used / count).toFixed(3)} ` +
    `${prefix}redis_busy=${(used / micros).toFixed(3)} ${prefix}worker_us=${((own.user + own.system) / count).toFixed(3)} `
  );
}

async function drain(queue) {
  const before = await info("memory", "used_memory");
  await fill(queue, tasks, 1000);
  const bytes = ((await info("memory", "used_memory")) - before) / tasks;
  let left = tasks;
  let finish;
  const all = new Promise((resolve) => (finish = resolve));
  const worker = new Worker(QUEUE, handler, { connection: connect(), concurrency, autorun: false });
  worker.on("completed", () => --left === 0 && finish());
  await worker.waitUntilReady();
  const line = await measure("", tasks, async () => {
    worker.run();
    await all;
  });
  await worker.close();
  return `${line}task_bytes=${Math.round(bytes)}`;
}

async function enqueue(queue) {
  const few = Math.floor(tasks / 10) + 1;
  const one = await measure("one_", few, () => fill(queue, few, 1));
  return one + (await measure("many_", tasks, () => fill(queue, tasks, 1000)));
}

async function pickup(queue) {
  const samples = [];
  let arrive;
  const worker = new Worker(QUEUE, async () => arrive(now()), { connection: connect(), concurrency });
  await worker.waitUntilReady();
  for (let i = -WARM_UP; i < tasks; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 3));
    const arrival = new Promise((resolve) => (arrive = resolve));
    const sent = now();
    await queue.add("noop", PAYLOAD, options);
    const took = (await arrival) - sent;
    if (i >= 0) samples.push(took);
  }
  await worker.close();
  samples.sort((a, b) => a - b);
  const rank = (percent) => samples[Math.floor((tasks * percent) / 100)].toFixed(1);
  return `p50=${rank(50)} p90=${rank(90)} p99=${rank(99)} max=${samples[tasks - 1].toFixed(1)}`;
}

await redis.flushall();
const queue = new Queue(QUEUE, { connection: connect() });
await queue.waitUntilReady();
const kinds = { drain, enqueue, pickup };
console.log(await kinds[what](queue));
await redis.flushall();
process.exit(0);
