import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { argumentsOf } from "../dockerfile.ts";

const certificates = "/etc/ssl/certs/ca-certificates.crt";

/** Pulls the base image of the Dockerfiles; without a registry of images, makes one from Debian and npm packages. */
export function setup(): void {
  const tools = ["buildah", "crun", "debootstrap", "fuse-overlayfs"];
  if (spawnSync("buildah", ["--version"]).status !== 0) {
    run("apt-get", ["install", "--yes", "--no-install-recommends", ...tools]);
  }
  const [image = ""] = argumentsOf("apps/router", "FROM");
  if (spawnSync("buildah", ["pull", "--policy=missing", image]).status === 0) return;
  const folder = mkdtempSync(join(tmpdir(), "evaluator-base-"));
  try {
    makeBaseImage(folder, image);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes an image with Node's and npm's packages, the user `node`, and this machine's certificates. */
function makeBaseImage(folder: string, image: string): void {
  const files = join(folder, "root");
  const release = execFileSync("sh", ["-c", ". /etc/os-release && echo $VERSION_CODENAME"], {
    encoding: "utf8",
  });
  run("debootstrap", ["--variant=minbase", "--include=ca-certificates", release.trim(), files]);
  const [, version = ""] = /:([\d.]+)/.exec(image) ?? [];
  run("npm", [
    "install",
    "--global",
    "--prefix",
    `${files}/usr/local`,
    `node@${version}`,
    "npm@11",
  ]);
  run("chroot", [files, "useradd", "--uid", "1000", "--create-home", "node"]);
  copyFileSync(certificates, join(files, certificates));
  const lines = ["FROM scratch", "COPY root /", `ENV NODE_EXTRA_CA_CERTS=${certificates}`];
  writeFileSync(join(folder, "Dockerfile"), lines.join("\n"));
  run("buildah", ["build", "--isolation", "chroot", "--tag", `docker.io/library/${image}`, folder]);
}

/** Runs a tool; what it prints goes to standard error. */
function run(tool: string, words: readonly string[]): void {
  execFileSync(tool, words, { stdio: ["ignore", process.stderr, process.stderr] });
}
