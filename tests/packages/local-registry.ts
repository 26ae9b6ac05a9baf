import { execSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { json } from "node:stream/consumers";
import { publishedPackages } from "../pack-client.ts";

/** What npm sends to publish a version. */
interface Publication {
  readonly name: string;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/**
 * Starts a registry that has these tarballs and those that are published to it, and everything else from the
 * machine's own registry.
 */
export async function startRegistry(tarballs: readonly string[]) {
  const upstream = execSync("npm config get registry", { encoding: "utf8" }).trim();
  const folder = mkdtempSync(join(tmpdir(), "registry-"));
  const paths = [...tarballs];
  const packed = new Map(tarballs.map((path) => [`/${basename(path)}`, readFileSync(path)]));
  const publish = ({ _attachments }: Publication) => {
    for (const [name, { data }] of Object.entries(_attachments)) {
      const bytes = Buffer.from(data, "base64");
      writeFileSync(join(folder, basename(name)), bytes);
      paths.push(join(folder, basename(name)));
      packed.set(`/${basename(name)}`, bytes);
    }
    return "{}";
  };
  const own = new Set(publishedPackages());
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}/`;
    const path = new URL(request.url ?? "", origin).pathname;
    const answer = async () => {
      if (request.method === "PUT") return publish((await json(request)) as Publication);
      const known = packed.get(path) ?? describe(path.slice(1), paths, origin);
      if (known === null && own.has(path.slice(1))) throw new Error("Not published yet.");
      return known ?? (await fromUpstream(upstream, request.url ?? "", origin));
    };
    void answer().then(
      (body) => response.end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}/`,
    close: () => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns what a registry says of one of the packages, or null. */
function describe(name: string, tarballs: readonly string[], origin: string): string | null {
  const path = tarballs.find((tarball) => basename(tarball).replace(/-\d+\..*/, "") === name);
  if (path === undefined) return null;
  const manifest = JSON.parse(
    execSync(`tar -xzOf "${path}" package/package.json`, { encoding: "utf8" }),
  ) as { version: string };
  const { version } = manifest;
  const tarball = readFileSync(path);
  const dist = {
    tarball: `${origin}${basename(path)}`,
    shasum: hash("sha1", tarball),
    integrity: `sha512-${hash("sha512", tarball, "base64")}`,
  };
  return JSON.stringify({
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, dist } },
    time: { created: "2020-01-01T00:00:00Z", [version]: "2020-01-01T00:00:00Z" },
  });
}

async function fromUpstream(upstream: string, path: string, origin: string) {
  const response = await fetch(upstream + path.slice(1));
  if (!response.ok) throw new Error(`${response.status} for ${path}`);
  if (path.includes("/-/")) return Buffer.from(await response.arrayBuffer());
  return (await response.text()).replaceAll(upstream, origin);
}
