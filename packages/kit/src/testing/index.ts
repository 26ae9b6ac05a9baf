export { compileCache } from "./compile-cache.ts";
export { createTestContext, type TestContext } from "./test-context.ts";
export { temporaryFolder } from "./temporary-folder.ts";
