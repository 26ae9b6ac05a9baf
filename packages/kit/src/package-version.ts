import { readFileSync } from "node:fs";

/**
 * Returns the version of the package that a module belongs to: of the `package.json` beside it, as in
 * a published package, or in a folder above.
 *
 * @param moduleUrl - `import.meta.url` of a module of the package.
 */
export function packageVersion(moduleUrl: string): string {
  for (let folder = new URL(".", moduleUrl); ; folder = new URL("..", folder)) {
    const version = versionIn(new URL("package.json", folder));
    if (version !== null || folder.pathname === "/") return version ?? "unknown";
  }
}

function versionIn(file: URL): string | null {
  try {
    const { version } = JSON.parse(readFileSync(file, "utf8")) as { version?: unknown };
    return typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}
