import { expect, test } from "vitest";
import { toOwner } from "../routes/require-key.ts";
import { parseKeys, printKeys } from "./key-store.ts";
import { findKey, toHash, storedKeySchema } from "./router-key.ts";

const sha256 = toHash("rk_token");
const key = storedKeySchema.parse({ name: "alice", budget: "team", sha256 });

test("a list is read as it was printed", () => {
  const limited = { ...key, tiers: ["nano" as const], usdPerDay: 0.5, expires: "2027-01-31" };
  expect(parseKeys(printKeys([limited]), "keys")).toEqual([limited]);
});

test.each([
  ["", "keys:1 is not JSON here."],
  ['[\n  {\n    "name": "alice"\n    "x": 1\n', "keys:4 is not JSON here."],
  ["{}", "keys:1 the file is not a list."],
  ["[\n null]", "keys:2 [0] is not an object."],
  [`[\n{"name": "alice",\n"sha256": "${sha256}"}]`, "keys:2 [0].budget is missing, or no text."],
  ['[{\n"name": "ali ce"}]', "keys:2 [0].name is not a name of up to 64 letters"],
  [
    printKeys([{ ...key, name: "owner" }]),
    "keys:3 [0].name is a name that the router itself uses.",
  ],
  [
    printKeys([{ ...key, sha256: "rk_token" }]),
    "keys:5 [0].sha256 is not a SHA-256 in hexadecimal; add the key with evaluator-router keys add.",
  ],
  [
    printKeys([{ ...key, expires: "soon" }]),
    "keys:5 [0].expires is not a date, such as 2027-01-31.",
  ],
  [
    printKeys([{ ...key, usdPerDay: -1 }]),
    "keys:5 [0].usdPerDay is not a number from 0 up; write null for no limit.",
  ],
  [printKeys([{ ...key, models: [] }]), "keys:5 [0].models is an empty list; write null for all."],
  [
    printKeys([{ ...key, tiers: ["big" as never] }]),
    "keys:6 [0].tiers[0] is none of nano, fast, balanced, frontier.",
  ],
  [
    printKeys([{ ...key, token: "rk_token" } as never]),
    "keys:2 [0].token is a secret; add the key with evaluator-router keys add.",
  ],
])("an error names the line and the field, and no value: %j", (text, message) => {
  expect(() => parseKeys(text, "keys")).toThrow(message);
  expect(() => parseKeys(text, "keys")).not.toThrow(/rk_token|[0-9a-f]{64}/);
});

test("a token finds its key until it expires, without the hash", () => {
  const limited = { ...key, expires: "2027-01-31" };
  const endMs = Date.UTC(2027, 0, 31);
  const keys = [toOwner("the-owner's-token"), limited];
  const { sha256: _, ...shown } = limited;
  expect(findKey(keys, ["", "rk_token"], endMs - 1)).toEqual(shown);
  expect(findKey(keys, ["", "rk_token"], endMs)).toBeNull();
  expect(findKey(keys, ["rk_other", sha256], 0)).toBeNull();
  expect(findKey(keys, ["the-owner's-token", ""], endMs)).toMatchObject({ name: "owner" });
});
