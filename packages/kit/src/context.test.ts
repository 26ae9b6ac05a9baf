import { expect, test } from "vitest";
import { paintVerdicts, trimEnvironment } from "./context.ts";

test("a blank variable counts as unset, space around a value does not count", () => {
  expect(trimEnvironment({ A: " a ", B: "  ", C: undefined, D: "" })).toEqual({ A: "a" });
});

test.each([
  ['"a b"', "a b"],
  [" 'a' ", "a"],
  ['""', undefined],
  ['"', '"'],
  ["\"a'", "\"a'"],
  ['"a" "b"', '"a" "b"'],
])("quotes that Docker leaves around a value do not count: %s", (value, trimmedValue) => {
  expect(trimEnvironment({ A: value })).toEqual({ A: trimmedValue });
});

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: "1" }, false],
  [false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
  [true, { FORCE_COLOR: "0" }, false],
])("verdicts alone have a colour: terminal %s, %j", (isTTY, env, isPainted) => {
  const context = { stdout: { isTTY, write() {} }, env };
  const [red, green, end] = isPainted ? ["\u001b[31m", "\u001b[32m", "\u001b[39m"] : ["", "", ""];
  expect(paintVerdicts("a: broken, 2 wrong\nb: kept", context)).toBe(
    `a: ${red}broken${end}, 2 wrong\nb: ${green}kept${end}`,
  );
  expect(paintVerdicts("no alarm: 20 is an alarm", context)).toBe(
    `${green}no alarm${end}: 20 is an alarm`,
  );
});
