import { expect, test } from "vitest";
import { trimEnvironment } from "./context.ts";

test("a blank variable counts as unset, space around a value does not count", () => {
  expect(trimEnvironment({ A: " a ", B: "  ", C: undefined })).toEqual({ A: "a" });
});
