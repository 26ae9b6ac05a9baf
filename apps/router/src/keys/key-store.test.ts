import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openPglite } from "evaluator-runs/testing";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { openKeyStore, openLiveKeys } from "./key-store.ts";
import { toHash, storedKeySchema } from "./router-key.ts";

const keyOf = (name: string) =>
  storedKeySchema.parse({ name, budget: name, sha256: toHash(`rk_${name}`) });
const fileIn = async () => join(await temporaryFolder(), "router-keys.json");
const names = (keys: readonly { readonly name: string }[]) => keys.map(({ name }) => name);

/** Live keys that read only when a test asks for it. */
async function followed(path: string) {
  const warnings: string[] = [];
  const keys = await openLiveKeys(path, (line) => warnings.push(line), 86_400_000);
  onTestFinished(() => keys.close());
  return { ...keys, warnings };
}

test("a file is for its owner only, and holds each change", async () => {
  const path = await fileIn();
  const store = await openKeyStore(path);
  expect(await store.read()).toBeNull();
  await store.change((keys) => [...keys, keyOf("alice")]);
  await store.change((keys) => [...keys, keyOf("bob")]);
  expect(await store.read()).toEqual([keyOf("alice"), keyOf("bob")]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, "utf8")).not.toContain("rk_");
});

test("a second change at the same time is refused, and loses no key", async () => {
  const path = await fileIn();
  const store = await openKeyStore(path);
  const changes = ["alice", "bob"].map((name) => store.change((keys) => [...keys, keyOf(name)]));
  const [first, second] = await Promise.allSettled(changes);
  expect(first?.status).not.toBe(second?.status);
  expect(await store.read()).toHaveLength(1);
  await store.change(() => []); // the lock is gone
  await writeFile(`${path}.lock`, ""); // of another process
  const add = () => store.change((keys) => [...keys, keyOf("carol")]);
  await expect(add()).rejects.toThrow("exists: another process changes the keys. Try again.");
  expect(await store.read()).toEqual([]);
  const old = new Date(Date.now() - 60_000);
  await utimes(`${path}.lock`, old, old); // it was killed
  await add();
  expect(names((await store.read()) ?? [])).toEqual(["carol"]);
});

test("a changed file is read; one with an error keeps the old keys, and is printed once", async () => {
  const path = await fileIn();
  const store = await openKeyStore(path);
  await store.change(() => [keyOf("alice")]);
  const { current, reload, warnings } = await followed(path);
  await store.change(() => [keyOf("alice"), keyOf("bob")]);
  await reload();
  expect(names(current())).toEqual(["alice", "bob"]);
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace('"budget": "bob"', '"budget": 7'));
  await reload();
  await reload();
  expect(names(current())).toEqual(["alice", "bob"]);
  const printed = `ROUTER_KEYS=${path}:9 [1].budget is missing, or no text. The router goes on with the old keys.\n`;
  expect(warnings).toEqual([printed]);
  await writeFile(path, text);
  await reload();
  await writeFile(path, text.slice(0, -4));
  await reload();
  expect(warnings).toEqual([
    printed,
    expect.stringMatching(/:11 is not JSON here\. The router goes on with the old keys\.\n$/),
  ]);
});

test("a file that is deleted revokes no key, and is printed once", async () => {
  const path = await fileIn();
  const store = await openKeyStore(path);
  await store.change(() => [keyOf("alice")]);
  const { current, reload, warnings } = await followed(path);
  await rm(path);
  for (let each = 0; each < 2; each += 1) await reload();
  expect(names(current())).toEqual(["alice"]);
  const problem = `Cannot read ${path}: nothing is there. Restore it; [] revokes all keys.`;
  expect(warnings).toEqual([`${problem} The router goes on with the old keys.\n`]);
  await writeFile(path, "[]");
  await reload();
  expect(current()).toEqual([]);
});

test("a router without a key yet warns, and sees the first one", async () => {
  const path = await fileIn();
  const { current, reload, warnings } = await followed(path);
  expect(current()).toEqual([]);
  expect(warnings.join("")).toContain("no key yet");
  await (await openKeyStore(path)).change(() => [keyOf("alice")]);
  await reload();
  expect(names(current())).toEqual(["alice"]);
});

test("a file that cannot be read is named", async () => {
  const path = await temporaryFolder();
  await expect(openLiveKeys(path, () => undefined)).rejects.toThrow(`Cannot read ${path}`);
});

test("a file in a missing folder is an error, and no lock is named", async () => {
  const path = "/nowhere/router-keys.json";
  const store = await openKeyStore(path);
  await expect(store.change((keys) => keys)).rejects.toThrow(
    `Cannot write ${path}: no such file or directory. Check the path. ROUTER_KEYS names it.`,
  );
  await expect(openLiveKeys(path, () => undefined)).rejects.toThrow(
    `Cannot read ${path}: no such file or directory. Check the path. ROUTER_KEYS names it, and its folder does not exist.`,
  );
});

test("an address of another database is an error that does not quote it", async () => {
  const error = await openLiveKeys("mysql://me:secret-word@h/keys", () => undefined).catch(String);
  expect(error).toContain("ROUTER_KEYS is neither a file nor the address of a PostgreSQL database");
  expect(error).not.toContain("secret-word");
});

test("routers share the keys of a PostgreSQL database", async () => {
  const database = await openPglite();
  await database.query("drop schema if exists evaluator_router cascade");
  const open = () => openKeyStore("postgres://127.0.0.1/keys", async () => database);
  const [one, other] = [await open(), await open()];
  expect(await other.read()).toBeNull();
  await one.change((keys) => [...keys, keyOf("alice")]);
  await one.change((keys) => [...keys, keyOf("bob")]);
  expect(await other.read()).toEqual([keyOf("alice"), keyOf("bob")]);
});

test("a database that cannot be reached is named by its variable, never by its address", async () => {
  const address = "postgres://me:secret-word@127.0.0.1:1/keys";
  const error = await openLiveKeys(address, () => undefined).catch(String);
  expect(error).toContain("ROUTER_KEYS: PostgreSQL cannot be reached");
  expect(error).not.toContain("secret-word");
});
