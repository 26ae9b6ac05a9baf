import { expect, test } from "vitest";
import { privateFailure, transportsTo } from "../testing/private-call.ts";
import { httpResponse, servers } from "../testing/socket-server.ts";

const statuses = [301, 302, 303, 307, 308];
const ways = Object.entries(transportsTo).flatMap(([way, transportTo]) =>
  servers.flatMap(([kind, listen]) =>
    statuses.map((status) => ({ way: `${way}, ${kind}`, transportTo, listen, status })),
  ),
);

test.each(ways)("$way: sends nothing to where a $status points", async (given) => {
  const { transportTo, listen, status } = given;
  await using elsewhere = await listen(() => undefined);
  await using server = await listen((socket) =>
    socket.write(httpResponse(status, "", { Location: `${elsewhere.origin}/quagga` })),
  );
  const error = await privateFailure(transportTo(server.origin));
  expect(error).toMatchObject({ name: "StatusError", status, isRetryable: false, attempts: 1 });
  expect(error.message).toContain("set the base URL to the final address");
  expect(server.requests).toHaveLength(1);
  expect(elsewhere.connections).toBe(0);
});
