/**
 * The files and folders of each workspace's `src`, from the ground up. A line may import the lines
 * before it; what stands on one line does not import each other.
 */
export const importOrder: Readonly<Record<string, readonly string[]>> = {
  "packages/cli-kit": [
    "clock errors hosts printable",
    "arguments context system-error write-whole-file",
    "listen run-program",
    "index",
  ],
  "packages/evaluator-emulator": [
    "catalog json seeded",
    "accounts call generations questions",
    "deliver judge request-log",
    "answers serve",
    "basis emulator-context rules",
    "gateway vendor",
    "faults recordings",
    "arguments control-routes",
    "create-emulator",
    "index main msw",
  ],
  "packages/recorder": ["contract-breaches live shape", "drift record"],
  "packages/page-kit": ["html", "page plot", "marks", "index"],
  fixtures: ["browser exchanges find-secrets", "index network"],
};
