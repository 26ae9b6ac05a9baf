import { globSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { outputOf } from "./run-command.ts";

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly if?: string;
  readonly needs?: string;
  readonly "timeout-minutes"?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly strategy?: {
    readonly matrix: { readonly include?: readonly Record<string, string>[] };
  };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly concurrency: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const root = dirname(import.meta.dirname);
const folder = join(root, ".github/workflows");
const names = globSync("*.yml", { cwd: folder });
const textOf = (name: string) => readFileSync(join(folder, name), "utf8");
const workflowOf = (name: string) => parse(textOf(name)) as Workflow;

/** Returns whether a workspace, given by its folder or its name, or any workspace has a script. */
function hasScript(workspace: string | null, script: string): boolean {
  return globSync(["package.json", "*/*/package.json"], { cwd: root }).some((file) => {
    const manifest = JSON.parse(readFileSync(join(root, file), "utf8")) as {
      name: string;
      scripts?: Record<string, string>;
    };
    const isMeant = [null, manifest.name, dirname(file)].includes(workspace);
    return isMeant && manifest.scripts?.[script] !== undefined;
  });
}

/** Returns the commands of a job, with what its matrix puts in. */
function commandsOf({ steps, strategy }: Job): string[] {
  const commands = steps.flatMap(({ run }) => run ?? []);
  const rows = strategy?.matrix.include ?? [{}];
  return rows.flatMap((row) =>
    commands.map((command) =>
      command.replace(/\$\{\{ matrix\.(\w+) \}\}/g, (_, key: string) => row[key] ?? ""),
    ),
  );
}

test.each(names)("%s ends in time, and runs scripts that there are", (name) => {
  const { permissions, concurrency, jobs } = workflowOf(name);
  expect(permissions).toEqual({ contents: "read" });
  expect(concurrency).toBeDefined();
  for (const job of Object.values(jobs)) {
    expect(job["timeout-minutes"]).toBeLessThanOrEqual(360);
    for (const command of commandsOf(job)) {
      const [, script] = /^npm (?:run )?(?!ci\b)([\w:-]+)/.exec(command) ?? [];
      const [, workspace = "."] = / -w (\S+)/.exec(command) ?? [];
      const place = command.includes(" --workspaces ") ? null : workspace;
      expect(script === undefined || hasScript(place, script), `${name}: ${command}`).toBe(true);
    }
  }
});

test("a run is not doubled, and only a pull request's newer one ends the older", () => {
  const { on, concurrency } = workflowOf("ci.yml");
  expect(on).toEqual({ push: { branches: ["main"] }, pull_request: null });
  const isOfPullRequest = "github.event_name == 'pull_request'";
  expect(concurrency).toEqual({
    group: `ci-\${{ ${isOfPullRequest} && github.ref || github.sha }}`,
    "cancel-in-progress": `\${{ ${isOfPullRequest} }}`,
  });
});

test("nothing is released but by hand where it is switched on, after all checks", () => {
  const { on, jobs } = workflowOf("release.yml");
  expect(on).toBe("workflow_dispatch");
  expect(Object.keys(jobs)).toEqual(["check", "publish", "images"]);
  expect(jobs["check"]?.if).toBe("vars.RELEASE == 'on'");
  expect(jobs["publish"]?.needs).toBe("check");
  expect(jobs["images"]?.needs).toBe("publish");
  const [check] = Object.values(jobs);
  expect(check?.steps.flatMap(({ run }) => run ?? [])).toEqual([
    "bash .ci/run",
    "npm run test:release",
  ]);
  expect(check?.steps.at(-1)?.env).toEqual({ RELEASING: "1" });
});

const ownPermissions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  publish: { contents: "write", "id-token": "write" },
  images: { contents: "read", packages: "write" },
};

test("the job that publishes alone may tell who it is, and has no token", () => {
  for (const name of names) {
    expect(textOf(name)).not.toMatch(/\bsecrets\.|registry-url|AUTH_TOKEN|NPM_TOKEN/);
    for (const [id, { permissions }] of Object.entries(workflowOf(name).jobs)) {
      expect(permissions).toEqual(ownPermissions[id]);
    }
  }
  // With 24.5 came npm 11.5.1, the first that exchanges a job's identity for a token.
  const [major = 0, minor = 0] = readFileSync(join(root, ".node-version"), "utf8")
    .split(".")
    .map(Number);
  expect(major + minor / 100).toBeGreaterThanOrEqual(24.05);
  const { steps = [] } = workflowOf("release.yml").jobs["publish"] ?? {};
  const publishing = steps.filter(({ run }) => run === "npm run release");
  expect(publishing.map(({ env }) => env)).toEqual([{ NPM_CONFIG_PROVENANCE: "true" }]);
});

test("each action is pinned to a commit, with its tag", () => {
  for (const name of names) {
    for (const [line] of textOf(name).matchAll(/.*\buses:.*/g)) {
      expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  }
});

test("an image is pushed with provenance and an SBOM, and named by its digest", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "image-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const digest = `sha256:${"a".repeat(64)}`;
  // In the place of Docker, which writes the digest of what it pushed.
  const docker = `#!/bin/sh\necho "$@" > words\necho '{"containerimage.digest":"${digest}"}' > image.json\n`;
  await writeFile(join(cwd, "docker"), docker, { mode: 0o755 });
  await mkdir(join(cwd, "apps/router"), { recursive: true });
  await cp(join(root, "apps/router/package.json"), join(cwd, "apps/router/package.json"));
  const env = {
    PATH: `${cwd}:${process.env["PATH"]}`,
    GITHUB_REPOSITORY: "Maker/Tools",
    GITHUB_STEP_SUMMARY: join(cwd, "summary"),
  };
  const command = `bash "${root}/.ci/push-image" evaluator-router apps/router`;
  const printed = await outputOf(command, { cwd, env });
  expect(printed).toContain(`ghcr.io/maker/tools/evaluator-router@${digest} is evaluator-router`);
  expect(readFileSync(join(cwd, "summary"), "utf8")).toBe(printed);
  const words = readFileSync(join(cwd, "words"), "utf8");
  expect(words).toMatch(/--push .*--provenance mode=max --sbom true/);
});
