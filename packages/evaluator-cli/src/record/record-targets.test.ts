import { mkdir, readdir, readFile, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { mayMount, smallDisk } from "evaluator-runs/testing";
import { expect, test } from "vitest";
import { liveService } from "../testing/live-service.ts";
import { startRecord } from "../testing/record.ts";

const gateway = "gateway/greeting-routes-to-nano";
const direct = "direct/three-question-types";

test("a link keeps its target, also a missing one, and a failure leaves no folder", async () => {
  const folder = await temporaryFolder();
  const [target, path] = [join(folder, "target.json"), join(folder, `${gateway}.json`)];
  await mkdir(join(folder, "gateway"));
  await symlink("../target.json", path);
  for (const _ of ["missing", "there"]) {
    expect(await startRecord([gateway, "--out", folder])).toMatchObject({ exitCode: 0 });
    expect(await readlink(path)).toBe("../target.json");
    expect(await readFile(target, "utf8")).toContain('"source": "live"');
  }
  const fetch = () => Promise.reject(new TypeError("fetch failed"));
  const out = join(folder, "a", "new");
  expect(await startRecord([gateway, "--out", out], { fetch })).toMatchObject({ exitCode: 2 });
  expect((await readdir(folder)).toSorted()).toEqual(["gateway", "target.json"]);
});

test("a link to a missing folder is refused before a call is paid", async () => {
  const folder = await temporaryFolder();
  await symlink("missing", join(folder, "gateway"));
  let requests = 0;
  const fetch = () => Promise.reject(new TypeError(`request ${++requests}`));
  const { exitCode, stderr } = await startRecord([gateway, "--out", folder], { fetch });
  expect({ exitCode, stderr, requests }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("Nothing can be written"),
    requests: 0,
  });
});

test.skipIf(!(await mayMount()))("a full disk is refused before a call is paid", async () => {
  const { path, ...disk } = await smallDisk();
  await disk.fill();
  let requests = 0;
  const fetch = () => Promise.reject(new TypeError(`request ${++requests}`));
  const { exitCode, stderr } = await startRecord([gateway, "--out", path], { fetch });
  expect([exitCode, requests]).toEqual([1, 0]);
  expect(stderr).toContain(`Nothing can be written in ${join(path, "gateway")}`);
  expect(await readdir(path)).toEqual(["filler"]);
});

test.skipIf(!(await mayMount()))("a disk that fills up midway ends the paid calls", async () => {
  const { path, ...disk } = await smallDisk();
  const service = liveService();
  let requests = 0;
  const fetch: typeof service = async (...request) => {
    requests += 1;
    if (requests === 2) await disk.fill();
    return await service(...request);
  };
  const { exitCode, stderr } = await startRecord(["--out", path], { fetch });
  expect([exitCode, requests]).toEqual([1, 2]);
  expect(stderr).toMatch(
    /not recorded: .* cannot be written \(ENOSPC\)\nStopped: 28 calls not made/,
  );
});

test("an older file stays when the new one cannot be put in its place", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, `${gateway}.json`), { recursive: true });
  const argv = [gateway, direct, "--replace", "--out", folder];
  const { exitCode, stderr } = await startRecord(argv);
  expect(exitCode).toBe(2);
  const path = join(folder, `${gateway}.json`);
  expect(stderr).toBe(`${gateway}: not recorded: ${path} cannot be written (EISDIR)\n`);
  expect(await readdir(join(folder, "gateway"))).toEqual(["greeting-routes-to-nano.json"]);
  expect(await readdir(join(folder, "direct"))).toEqual(["three-question-types.json"]);
});
