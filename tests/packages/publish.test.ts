import { globSync, readFileSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { json } from "node:stream/consumers";
import { expect, inject, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { publishedPackages } from "../pack-client.ts";
import { outputOf, runCommand } from "../run-command.ts";

// The job that publishes, played with npm and git as they are, against a registry of this machine.

const root = join(import.meta.dirname, "../..");
const tarballs = inject("tarballs");
const published = publishedPackages();

/** What npm sends to publish a package. */
interface Publication {
  readonly name: string;
  readonly access: string;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** A registry that holds nothing, whose tokens are for one package each, and the job's identity. */
async function startRegistry() {
  const publications = new Map<string, Publication>();
  const answer = async (request: IncomingMessage, origin: string): Promise<[number, object]> => {
    const { method, headers } = request;
    const { pathname, searchParams } = new URL(request.url ?? "", origin);
    if (pathname === "/identity" && headers.authorization === "Bearer of-the-job") {
      return [200, { value: `identity for ${searchParams.get("audience")}` }];
    }
    const [, exchanged] =
      /^\/-\/npm\/v1\/oidc\/token\/exchange\/package\/(.+)$/.exec(pathname) ?? [];
    if (method === "POST" && headers.authorization === "Bearer identity for npm:127.0.0.1") {
      return [201, { token: `of-${exchanged}` }];
    }
    const name = pathname.slice(1);
    if (method !== "PUT") return [404, { error: "not_found" }];
    if (headers.authorization !== `Bearer of-${name}`) return [401, { error: "unauthorized" }];
    publications.set(name, (await json(request)) as Publication);
    return [201, {}];
  };
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    void answer(request, `http://127.0.0.1:${port}`).then(([status, body]) => {
      response.writeHead(status, { "content-type": "application/json" });
      return response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, publications };
}

/** Returns a copy of what a release reads, committed and pushed, with what `npm run build` made. */
async function copyRepository(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "publish-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, "work");
  const files = globSync(
    [
      ".changeset/config.json",
      "package.json",
      "package-lock.json",
      "{packages,apps}/*/package.json",
      "fixtures/package.json",
      "{packages,apps}/*/dist",
    ],
    { cwd: root },
  );
  for (const file of files) await cp(join(root, file), join(folder, file), { recursive: true });
  const author = "-c user.name=a -c user.email=a@example.com";
  const commands = [
    "git init -q --bare ../remote",
    "git init -q -b main",
    "git add -A",
    `git ${author} commit -qm before`,
    "git remote add origin ../remote",
    "git push -qu origin main",
  ];
  for (const command of commands) await outputOf(command, { cwd: folder });
  return folder;
}

/** Returns the commands of the job after `npm ci`, in order. */
function publishCommands(): string[] {
  const { jobs } = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")) as {
    jobs: { publish: { steps: readonly { run?: string }[] } };
  };
  const commands = jobs.publish.steps.flatMap(({ run }) => run ?? []);
  return commands.slice(commands.indexOf("npm ci") + 1).filter((line) => !line.startsWith("gh "));
}

test("the job publishes what was built, by tokens that npm gets for its identity, and tags it", async () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: { release: string };
  };
  const steps = scripts.release.split(" && ");
  const at = steps.findIndex((step) => step.endsWith("changeset publish"));
  expect(steps[at - 1]).toBe("npm run build"); // as the tarballs were made
  const publish = `${root}/${steps[at]}`;
  const cwd = await copyRepository();
  const { origin, publications } = await startRegistry();
  const env = {
    PATH: `${root}/node_modules/.bin:${process.env["PATH"]}`,
    HOME: cwd, // with no settings of a person
    GITHUB_ACTIONS: "true",
    ACTIONS_ID_TOKEN_REQUEST_URL: `${origin}/identity`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of-the-job",
    NPM_CONFIG_REGISTRY: `${origin}/`,
    // To sign takes the services of sigstore.
    NPM_CONFIG_PROVENANCE: "false",
  };
  for (const command of publishCommands()) {
    const replaced = command.replace("npm run release", publish);
    await outputOf(replaced, { cwd, env });
  }
  expect([...publications.keys()].toSorted()).toEqual(published.toSorted());
  for (const { name, access, _attachments } of publications.values()) {
    expect(access).toBe("public");
    const [sent] = Object.values(_attachments);
    const packed = tarballs.find((path) => new RegExp(`/${name}-\\d[^/]*$`).test(path)) ?? "";
    expect(sent?.data === readFileSync(packed, "base64"), `${name} is what was packed`).toBe(true);
  }
  const { stdout } = await runCommand("git ls-remote --tags --refs origin", { cwd });
  const tags = stdout.trim().split("\n");
  expect(tags.map((line) => line.replace(/^.*refs\/tags\/(.+)@.+$/, "$1"))).toEqual(
    published.toSorted(),
  );
});
