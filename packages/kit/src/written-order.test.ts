import { expect, test } from "vitest";
import { findSortedKeys } from "./written-order.ts";

test.each<[string, object[]]>([
  ['{"3":1,"1":2}', [{ path: [], keys: ["3", "1"] }]],
  ['{"x":1,"1" :2}', [{ path: [], keys: ["x", "1"] }]],
  [
    '{"a":[{"x":0},{"b":{"\\u0031\\u0030":1,"2":2}}]}',
    [{ path: ["a", 1, "b"], keys: ["10", "2"] }],
  ],
  [
    '{"10":{"3":"\\"7\\":","1":0},"2":0}',
    [
      { path: [], keys: ["10", "2"] },
      { path: ["10"], keys: ["3", "1"] },
    ],
  ],
  ['{"1":1,"3":2,"x":"\\"3\\":"}', []],
  ['{"a":"{\\"3\\":1,\\"1\\":2}","01":1,"1.5":2}', []],
  ['{"":":",":":" : ","1":"\\\\"}', [{ path: [], keys: ["", ":", "1"] }]],
  ['{"3":1,"1":2,"3":3}', [{ path: [], keys: ["3", "1"] }]],
  ['{"x":1,"__proto__":2,"0":3}', [{ path: [], keys: ["x", "__proto__", "0"] }]],
])("%s", (text, sorted) => {
  expect(findSortedKeys(text, JSON.parse(text))).toEqual(sorted);
});

test.each([
  { "3": [{ "1": '"2":' }] },
  { "7": { b: '{"9":1,"8":2}', "": "\\" }, a: "\n" },
  ["1", null],
])("what JavaScript wrote is in its order: %j", (value) => {
  const text = JSON.stringify({ z: value, 7: '"5" :' }, null, 2);
  expect(findSortedKeys(text, JSON.parse(text))).toEqual([]);
});
