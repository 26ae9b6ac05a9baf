import hoodiecrow, { type HoodiecrowFolder } from "hoodiecrow-imap";
import fetchHandlers from "hoodiecrow-imap/lib/commands/handlers/fetch.js";
import { onTestFinished } from "vitest";

const plugins = [
  "ID",
  "ENABLE",
  "CONDSTORE",
  "UIDPLUS",
  "MOVE",
  "IDLE",
  "LITERALPLUS",
  "SPECIAL-USE",
];

// Without a copy the length of a partial fetch is lost after the first shorter mail.
const { BODY } = fetchHandlers;
fetchHandlers.BODY = (connection, message, query) =>
  BODY(connection, message, structuredClone(query));

/** The password of the only user. */
export const imapEnv = { TRIAGE_IMAP_PASSWORD: "testpass" };

/** Starts an IMAP server in this process, for the length of the test; `without` names missing extensions. */
export async function startHoodiecrow(
  inbox: HoodiecrowFolder,
  {
    folders = {},
    without = [],
  }: {
    folders?: Record<string, HoodiecrowFolder>;
    without?: readonly string[];
  } = {},
) {
  const server = hoodiecrow({
    plugins: plugins.filter((name) => !without.includes(name)),
    storage: { INBOX: inbox, "": { folders } },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => server.close());
  // It answers in several packets; with Nagle's algorithm, each answer would take 40 ms.
  server.server.on("connection", (socket) => socket.setNoDelay(true));
  const address = server.server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return { server, account: `imap://testuser@127.0.0.1:${port}` };
}
