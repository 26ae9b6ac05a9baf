import { expect, test } from "vitest";
import { testRouter } from "../testing/test-router.ts";
import type { Differences } from "../testing/upstreams.ts";
import { checkPrompts } from "./run-self-check.ts";

async function check(differences: Differences) {
  const { chat } = await testRouter(differences);
  let printed = "";
  const passed = await checkPrompts(
    (message) => chat({ message }),
    (text) => void (printed += text),
  );
  return { passed, printed };
}

test("refused reply models are printed as that, with the decisions", async () => {
  const error = { message: "Free tier users do not have access.", type: "forbidden" };
  const { passed, printed } = await check({
    reply: () => Response.json({ error }, { status: 403 }),
  });
  expect(passed).toBe(false);
  expect(printed).toMatchInlineSnapshot(`
    "failure  a bare greeting: nano (nano 0.97, fast 0.02, balanced 0, frontier 0)
             the reply model openai/gpt-5-nano failed, not the router: Free tier users do not have access.
    failure  a request to write code: balanced (balanced 0.78, fast 0.13, frontier 0.09, nano 0)
             the reply model anthropic/claude-sonnet-5.5 failed, not the router: Free tier users do not have access.
    failure  a request for perfect complete code: frontier (frontier 0.55, balanced 0.43, fast 0.02, nano 0)
             the reply model anthropic/claude-fable-5.1 failed, not the router: Free tier users do not have access.
    0 of 3 prompts passed
    "
  `);
});

test("failed evaluations are printed with their errors", async () => {
  const error = { message: "Invalid key.", type: "authentication_error" };
  const { passed, printed } = await check({
    evaluation: () => Response.json({ error }, { status: 401 }),
  });
  expect(passed).toBe(false);
  expect(printed).toMatchInlineSnapshot(`
    "failure  a bare greeting: no decision
             no tier was chosen: The evaluation service refused this router's key. The gateway answered 401 (authentication_error): "Invalid key." Check the key, and that it may use this model.
    failure  a request to write code: no decision
             no tier was chosen: The evaluation service refused this router's key. The gateway answered 401 (authentication_error): "Invalid key." Check the key, and that it may use this model.
    failure  a request for perfect complete code: no decision
             no tier was chosen: The evaluation service refused this router's key. The gateway answered 401 (authentication_error): "Invalid key." Check the key, and that it may use this model.
    0 of 3 prompts passed
    "
  `);
});
