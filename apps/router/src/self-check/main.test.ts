import { expect, test } from "vitest";
import { plantedKey } from "../testing/keep-output.ts";
import { runHere, startProgram } from "../testing/start-program.ts";

test("passes on the recordings, without a key", async () => {
  const { code, stdout, stderr } = await startProgram("main.ts", {}, ["self-check"]).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatchInlineSnapshot(`
    "Answers are recordings, played by the local emulator; --live asks the configured service.
    ok       a bare greeting: nano (nano 0.97, fast 0.02, balanced 0, frontier 0)
    ok       a request to write code: balanced (balanced 0.78, fast 0.13, frontier 0.09, nano 0)
    ok       a request for perfect complete code: frontier (frontier 0.55, balanced 0.43, fast 0.02, nano 0)
    3 of 3 prompts passed
    "
  `);
});

test("fails with 1 and names the cause when the service cannot be reached", async () => {
  const env = {
    AI_GATEWAY_API_KEY: plantedKey,
    EVALUATOR_BASE_URL: "https://127.0.0.1:9/v4/ai",
  };
  const { code, stdout, stderr } = await runHere("self-check", env, ["--live"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout).toContain("no tier was chosen: Could not connect to https://127.0.0.1:9");
  expect(stdout).toContain("0 of 3 prompts passed");
});

test("--live without a key is one line and a 1", async () => {
  const { code, stdout, stderr } = await runHere("self-check", {}, ["--live"]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe(
    "--live asks the configured services: set AI_GATEWAY_API_KEY, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL, or leave out --live.\n",
  );
});
