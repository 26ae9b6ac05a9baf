import { expect, test } from "vitest";
import { startProgram } from "./testing/start-program.ts";
import { startTestRouter } from "./testing/test-router.ts";

test("ends with 0 while the router answers, and with 1 once it is gone", async () => {
  const { origin, close } = await startTestRouter();
  const { port } = new URL(origin);
  const PORT = `"${port}"`; // as Docker's --env-file passes it
  const check = () => startProgram("health-check.ts", { PORT }).ended;
  expect(await check()).toMatchObject({ code: 0, stderr: "" });
  await close();
  expect(await check()).toMatchObject({ code: 1, stderr: "" });
});
