import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { promisify } from "node:util";

const root = env["PEERS_FOLDER"] ?? join(tmpdir(), "evaluator-peers");

/** How each environment is installed in a folder, and the files that decide what is in it. */
const environments = {
  clients: python("clients"),
  litellm: python("litellm"),
  models: python("models"),
  rust: {
    files: ["rust/Cargo.toml", "rust/Cargo.lock", "rust/src/main.rs"],
    bin: "target/debug",
    async install(folder: string) {
      const project = join(folder, "project");
      await cp(join(import.meta.dirname, "rust"), project, { recursive: true });
      const manifest = ["--manifest-path", join(project, "Cargo.toml")];
      // The lock file of this repository names no registry: Cargo's is in the one that it makes itself.
      const lock = join(project, "Cargo.lock");
      const versions = await readFile(lock, "utf8");
      await rm(lock);
      await run("cargo", ["generate-lockfile", ...manifest]);
      const [source = ""] = /^source = .*$/m.exec(await readFile(lock, "utf8")) ?? [];
      await writeFile(lock, versions.replaceAll(/^checksum/gm, `${source}\nchecksum`));
      const target = ["--target-dir", join(folder, "target")];
      await run("cargo", ["build", "--locked", ...manifest, ...target]);
    },
  },
  java: {
    files: ["java/pom.xml", "java/SHA256SUMS", "java/Clients.java"],
    bin: "classes",
    async install(folder: string) {
      const java = join(import.meta.dirname, "java");
      const classes = join(folder, "classes");
      const goal = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies";
      const pom = ["-f", join(java, "pom.xml"), `-DoutputDirectory=${classes}`];
      await run("mvn", ["-q", "-B", goal, ...pom]);
      await run("sha256sum", ["--strict", "--check", join(java, "SHA256SUMS")], { cwd: classes });
      const jars = ["-proc:none", "-cp", join(classes, "*"), "-d", classes];
      await run("javac", [...jars, join(java, "Clients.java")]);
    },
  },
} as const satisfies Record<string, Installer>;

interface Installer {
  readonly files: readonly string[];
  /** The folder of its programs. */
  readonly bin: string;
  install(folder: string): Promise<void>;
}
type Environment = keyof typeof environments;

/** The folder of an environment's programs, or why it is not there. */
type Installed = { readonly bin: string } | { readonly reason: string };

/** Returns an environment, which is installed first if it is not; a test file awaits those that it needs. */
export async function installEnvironment(name: Environment): Promise<Installed> {
  const { files, bin } = environments[name];
  const hash = createHash("sha256");
  for (const file of files) hash.update(await readFile(join(import.meta.dirname, file)));
  const folder = join(root, `${name}-${hash.digest("hex").slice(0, 16)}`);
  const installed = { bin: join(folder, bin) };
  if (await exists(join(folder, "complete"))) return installed;
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await environments[name].install(folder);
    await mkdir(join(folder, "complete"));
    return installed;
  } catch (error) {
    const lines = error instanceof Error ? error.message.trim().split("\n") : [];
    const reason = lines.at(-1) ?? "";
    process.stderr.write(`not run here: ${name}: ${reason}\n`);
    return { reason };
  }
}

function python(name: string): Installer {
  const requirements = `requirements/${name}.txt`;
  return {
    files: [requirements],
    bin: "bin",
    async install(folder) {
      await run("python3", ["-m", "venv", folder]);
      const words = ["install", "--quiet", "--require-hashes", "--only-binary=:all:", "--no-deps"];
      await run(join(folder, "bin/pip"), [...words, "-r", join(import.meta.dirname, requirements)]);
    },
  };
}

function run(program: string, words: readonly string[], options = {}) {
  return promisify(execFile)(program, words, { maxBuffer: 10_000_000, ...options });
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
