import process from "node:process";
import { Miniflare } from "miniflare";

const base = encodeURIComponent(process.argv.at(-1));
const worker = new Miniflare({
  modules: true,
  scriptPath: "worker.js",
  compatibilityDate: "2026-07-01",
});
const response = await worker.dispatchFetch(`http://localhost/?base=${base}`);
process.stdout.write(`${await response.text()}\n`);
await worker.dispose();
