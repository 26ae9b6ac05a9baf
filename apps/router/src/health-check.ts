import process from "node:process";

const digitsOfPort = process.env["PORT"]?.replace(/\D/g, "") || "3000";

try {
  const signal = AbortSignal.timeout(2000);
  const { ok } = await fetch(`http://127.0.0.1:${digitsOfPort}/healthz`, { signal });
  process.exitCode = ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
