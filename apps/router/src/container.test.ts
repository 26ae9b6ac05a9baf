import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DockerfileParser, type Instruction } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const source = read("apps/router/Dockerfile");
const instructions = DockerfileParser.parse(source).getInstructions();

function argumentsOf(keyword: string): string[] {
  const named = (instruction: Instruction) => instruction.getKeyword() === keyword;
  return instructions.filter(named).map((instruction) => instruction.getArgumentsContent() ?? "");
}

test("the container file is short, and a linter finds nothing in it", () => {
  expect(validate(source)).toEqual([]);
  expect(instructions.length).toBeLessThanOrEqual(12);
});

test("it starts from the pinned Node, copies files only, and ends as a user without rights", () => {
  const { devDependencies } = JSON.parse(read("package.json")) as {
    devDependencies: Record<string, string>;
  };
  expect(argumentsOf("FROM")).toEqual([`node:${devDependencies["node"]}-slim`]);
  expect(argumentsOf("ADD")).toEqual([]);
  expect(argumentsOf("USER")).toEqual(["node"]);
});

test("what it starts and what it asks for its health are programs of the router", () => {
  const commands = [...argumentsOf("CMD"), ...argumentsOf("HEALTHCHECK")].map(
    (words) => JSON.parse(words.slice(words.indexOf("["))) as string[],
  );
  expect(commands).toEqual([
    ["node", "apps/router/src/main.ts"],
    ["node", "apps/router/src/health-check.ts"],
  ]);
  for (const [, program = ""] of commands) expect(existsSync(join(root, program))).toBe(true);
});

test("nothing goes into the image but what is named, and no settings, tests or logs", () => {
  const [first, ...rest] = read("apps/router/Dockerfile.dockerignore").trimEnd().split("\n");
  const lastNamed = rest.findLastIndex((line) => line.startsWith("!"));
  expect(first).toBe("**");
  expect(rest.slice(lastNamed + 1)).toEqual(
    expect.arrayContaining(["**/.env*", "**/node_modules", "**/*.test.ts", "**/*.jsonl"]),
  );
  for (const line of rest.slice(0, lastNamed + 1)) {
    expect(globSync(line.slice(1), { cwd: root })).not.toEqual([]);
  }
});

test("every workspace's package.json goes into the image, which the lock file needs", () => {
  const named = read("apps/router/Dockerfile.dockerignore").split("\n");
  expect(named).toEqual(
    expect.arrayContaining(["!apps/*/package.json", "!packages/*/package.json"]),
  );
});

test("compose gives it loopback, no rights, and time for the answers in flight", () => {
  const { router } = (parse(read("apps/router/compose.yaml")) as ComposeFile).services;
  const { build, ports, stop_grace_period, volumes, ...others } = router;
  expect(existsSync(join(root, "apps/router", build.context, build.dockerfile))).toBe(true);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  const [, mounted = "none"] = volumes[0]?.split(":") ?? [];
  expect(dirname(others.environment.ROUTER_KEYS)).toBe(mounted);
  expect(others).toMatchObject({
    environment: { ROUTER_ACCESS_TOKEN: expect.stringMatching(/^\$\{ROUTER_ACCESS_TOKEN:\?/) },
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
  });
  const [, grace = ""] = /graceMs: ([\d_]+)/.exec(read("apps/router/src/start-router.ts")) ?? [];
  expect(grace).not.toBe("");
  expect(Number.parseInt(stop_grace_period, 10) * 1000).toBeGreaterThan(
    Number(grace.replaceAll("_", "")),
  );
});

interface ComposeFile {
  readonly services: {
    readonly router: {
      readonly build: { readonly context: string; readonly dockerfile: string };
      readonly ports: readonly string[];
      readonly stop_grace_period: string;
      readonly volumes: readonly string[];
      readonly environment: { readonly ROUTER_KEYS: string };
    };
  };
}
