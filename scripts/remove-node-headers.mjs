import { existsSync, readdirSync, rmSync } from "node:fs";

// The `node` package brings 67 MB of C headers beside its binary. No code here compiles an add-on.
const folder = new URL("../node_modules/node/node_modules/", import.meta.url);
for (const name of existsSync(folder) ? readdirSync(folder) : []) {
  rmSync(new URL(`${name}/include`, folder), { recursive: true, force: true });
}
