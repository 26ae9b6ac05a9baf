import { expect, test } from "vitest";
import { alignColumns } from "./align-columns.ts";

test("columns start at the same place on the screen, whatever is in them", () => {
  const rows = [
    ["from", "n", "subject"],
    ["日本", "1", "wide"],
    ["👨‍👩‍👧", "22", "one family"],
    ["e\u0301a", "3", "combined"],
    ["", "4", ""],
  ];
  expect([...alignColumns(() => rows)].join("")).toBe(
    [
      "from  n   subject",
      "日本  1   wide",
      "👨‍👩‍👧    22  one family",
      "e\u0301a    3   combined",
      "      4",
      "",
    ].join("\n"),
  );
});
