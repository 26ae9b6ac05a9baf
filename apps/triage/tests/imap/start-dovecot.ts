import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { selfSignedCertificate } from "evaluator-kit";

// Mail of root is refused; 65534 is nobody everywhere.
const NOBODY = 65_534;
const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

/** A running server; each user name is a mailbox, and all have one password. */
export interface Dovecot {
  readonly port: number;
  /** With a certificate of the server itself, which no client trusts. */
  readonly tlsPort: number;
  readonly password: string;
  /** The folder with its settings, certificate (`cert.pem`) and mail. */
  readonly folder: string;
}

/** Starts Dovecot on free ports of 127.0.0.1; installs it if this process may. */
export async function startDovecot(): Promise<Dovecot & { readonly stop: () => Promise<void> }> {
  await installDovecot();
  const folder = mkdtempSync(join(tmpdir(), "evaluator-dovecot-"));
  const server = { folder, password: "correct-horse", ...(await freePorts()) };
  const { key, cert } = selfSignedCertificate();
  const files = { "key.pem": key, "cert.pem": cert, "dovecot.conf": settings(server) };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  if (isRoot)
    for (const name of ["", ...Object.keys(files)]) chownSync(join(folder, name), NOBODY, NOBODY);
  // Without pipes: the server would keep them open.
  const [file, words] = asUser(server, "/usr/sbin/dovecot");
  const [code] = await once(
    spawn(file, words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] }),
    "exit",
  );
  if (code !== 0) throw new Error(`Dovecot did not start; see ${folder}/log.`);
  return {
    ...server,
    async stop() {
      await runDoveadm(server, "stop");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs `doveadm` on a server and returns what it prints. */
export async function runDoveadm(server: Dovecot, ...words: string[]): Promise<string> {
  const [file, all] = asUser(server, "/usr/bin/doveadm", ...words);
  const { stdout } = await run(file, all, { cwd: server.folder, maxBuffer: 1e8 });
  return stdout;
}

async function installDovecot(): Promise<void> {
  if (existsSync("/usr/sbin/dovecot")) return;
  const missing = "No Dovecot found: install the Debian package dovecot-imapd.";
  if (!isRoot || !existsSync("/usr/bin/apt-get")) throw new Error(missing);
  // In runlevel 1 the package does not start its service.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const words = ["install", "--yes", "--no-install-recommends", "dovecot-imapd"];
  await run("apt-get", ["update"], { env });
  await run("apt-get", words, { env });
}

/** Returns the words that run a program with the settings of a server, as a user who is not root. */
function asUser({ folder }: Dovecot, path: string, ...words: string[]): [string, string[]] {
  const command = [path, "-c", join(folder, "dovecot.conf"), ...words];
  const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  const [file = "", ...rest] = isRoot ? [...asNobody, ...command] : command;
  return [file, rest];
}

async function freePorts(): Promise<Pick<Dovecot, "port" | "tlsPort">> {
  const servers = [createServer(), createServer()];
  const ports = servers.map(
    (server) =>
      new Promise<number>((resolve) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address();
          resolve(typeof address === "object" && address !== null ? address.port : 0);
        });
      }),
  );
  const [port = 0, tlsPort = 0] = await Promise.all(ports);
  await Promise.all(servers.map((server) => promisify(server.close.bind(server))()));
  return { port, tlsPort };
}

const nameOf = (option: string) => execFileSync("id", [option], { encoding: "utf8" }).trim();

/** Settings of Dovecot 2.3 for a user who is not root. */
function settings({ folder, password, port, tlsPort }: Dovecot): string {
  const { uid, gid } = isRoot ? { uid: NOBODY, gid: NOBODY } : userInfo();
  const [name, group] = isRoot ? ["nobody", "nogroup"] : [nameOf("-un"), nameOf("-gn")];
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
default_internal_user = ${name}
default_internal_group = ${group}
default_login_user = ${name}
first_valid_uid = 1
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = mdbox:${folder}/mail/%u
mail_home = ${folder}/mail/%u/home
mail_max_userip_connections = 0
# Without waiting for the disk.
mail_fsync = never
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid}
}
namespace inbox {
  inbox = yes
  mailbox Archive {
    auto = create
    special_use = \\Archive
  }
  mailbox Junk {
    auto = create
    special_use = \\Junk
  }
}
service imap-login {
  chroot =
  service_count = 0
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
`;
}
