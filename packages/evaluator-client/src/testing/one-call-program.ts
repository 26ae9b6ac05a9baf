import { setDefaultCACertificates } from "node:tls";
import { createHttpClient } from "../http/undici-http-client.ts";

// It closes nothing, and ends only if an idle connection does not keep it alive.
const [origin = "", certificate = ""] = process.argv.slice(2);
setDefaultCACertificates([certificate]);
const http = createHttpClient({ env: {} });
const send = http.prepare({ method: "POST", url: `${origin}/path`, headers: {} });
const { text } = await send("{}", { signal: new AbortController().signal });
process.stdout.write(`${text}\n`);
