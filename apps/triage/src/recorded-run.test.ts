import { readFile } from "node:fs/promises";
import { replayExchanges } from "evaluator-client/replay-exchanges";
import { expect, test } from "vitest";
import { openCatalog, openTransport } from "evaluator-runs/commands";
import { folderWith, readResults, startTriage } from "./testing/start-triage.ts";

const situations = [
  "consent-alert-first-of-thread",
  "self-sent-reminder-looks-like-scam",
  "breach-alert-scores-below-consent-alerts",
];

test("a whole run over recorded exchanges: requests, table, results, and nothing is asked twice", async () => {
  const names = situations.map((name) => `gateway/${name}`);
  const network = await replayExchanges([...names, "gateway/models-listed"]);
  const states = await Promise.all(situations.map(stateOf));
  const mails = states.map((state, index) => Object.assign({ id: `m-${index}` }, state));
  const cwd = await folderWith(mails);
  const env = { AI_GATEWAY_API_KEY: "any", TRIAGE_USER_NAME: "the user" };
  const services = { cwd, env, openTransport, openCatalog };
  const { exitCode, stdout } = await startTriage(["inbox.json", "--concurrency", "1"], services);
  expect(exitCode).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "imp   conf  scam  deal  category           date        from                          subject
    3.91  0.38  0.31  0.00  security_alert     2026-03-02  Cloudlark Accounts <no-reply  Security alert: an app was given access to your account
    3.34  0.36  0.74  0.01  personal_reminder  2026-03-09  Robin Hale <robin.hale@examp  dont forget!!
    2.92  0.34  0.36  0.00  security_alert     2026-03-10  Breach Lookout <alerts@breac  Your address was found in a data breach
    "
  `);
  const results = await readResults(cwd);
  expect(results.map(({ id, importance, scam }) => ({ id, importance, scam })))
    .toMatchInlineSnapshot(`
    [
      {
        "id": "m-0",
        "importance": 3.91,
        "scam": 0.31,
      },
      {
        "id": "m-1",
        "importance": 3.34,
        "scam": 0.74,
      },
      {
        "id": "m-2",
        "importance": 2.92,
        "scam": 0.36,
      },
    ]
  `);
  const again = await startTriage(["inbox.json", "--concurrency", "1"], services);
  expect(again).toMatchObject({ exitCode: 0, stdout });
  expect(network.requests).toHaveLength(4);
});

async function stateOf(name: string): Promise<object> {
  const file = new URL(`../../../fixtures/exchanges/gateway/${name}.json`, import.meta.url);
  const { request } = JSON.parse(await readFile(file, "utf8")) as {
    request: { body: { state: object } };
  };
  return request.body.state;
}
