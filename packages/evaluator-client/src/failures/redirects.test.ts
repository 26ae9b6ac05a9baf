import { describe, expect, test } from "vitest";
import { everyWayAndServer, privateFailure } from "../testing/private-call.ts";
import { httpResponse } from "../testing/socket-server.ts";

describe.each(everyWayAndServer)("%s", (_, transportTo, listen) => {
  test.each([301, 302, 303, 307, 308])("sends nothing to where a %d points", async (status) => {
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
});
