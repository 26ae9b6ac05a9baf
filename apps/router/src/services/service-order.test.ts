import { expect, test } from "vitest";
import { answer, routerOver } from "../testing/priced-services.ts";

const longState = { state: "You have won the lottery. ".repeat(8000) };

test("a state that is too long for the first service is answered by the next one, and only its price is reserved", async () => {
  let nano = 0;
  const router = await routerOver(
    [
      () => expect.unreachable(),
      async () => {
        nano = (await router.spent()).reservedNano;
        return Response.json(answer("0.25"));
      },
    ],
    { modelIds: ["typesafe-ai/jev", "other/long"] },
  );
  const { list } = router.services.decisions.current;
  Object.assign(list[0], { mostCostOf: () => 1000 });
  expect((await router.ask(longState)).status).toBe(200);
  expect(nano).toBeLessThan(1_000_000_000);
  expect(router.records).toMatchObject([{ service: "service-1", outcome: "answered" }]);
});

test("a request that no service takes is refused before the budget is looked at, and is in the log", async () => {
  const router = await routerOver([() => expect.unreachable(), () => expect.unreachable()], {
    usdPerDay: 0.000001,
  });
  const response = await router.ask(longState);
  expect(response.status).toBe(422);
  expect(await response.text()).toContain("more than the 32,000 tokens");
  expect(await router.spent()).toMatchObject({ dayNano: 0, reservedNano: 0 });
  expect(router.records).toMatchObject([{ outcome: "failed", failure: "InvalidRequestError" }]);
});

const refused = (status: number, message: string) => () =>
  Response.json({ error: { message } }, { status });

test.each([
  ["a wrong key", refused(401, "No."), 200],
  ["no credit", refused(402, "No."), 200],
  ["an unknown model", refused(404, "No."), 200],
  ["a long body", refused(413, "No."), 200],
  ["a context that is too long", refused(400, "maximum context length is 8 tokens"), 200],
  ["a bad request", refused(400, "No."), 400],
  ["a wrong field", refused(422, "No."), 400],
])(
  "after %s of the first service, the next one is asked only if it may answer",
  async (...given) => {
    const [, first, status] = given;
    const router = await routerOver([first, () => Response.json(answer("0.25"))]);
    expect((await router.ask()).status).toBe(status);
    const { dayNano, reservedNano } = await router.spent();
    expect({ dayNano, reservedNano }).toEqual({
      dayNano: status === 200 ? 250_000_000 : 0,
      reservedNano: 0,
    });
  },
);
