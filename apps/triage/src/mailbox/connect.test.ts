import { createServer } from "node:net";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { selfSignedCertificate } from "evaluator-kit";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "./connect.ts";
import { parseMailboxUrl } from "./mailbox-url.ts";

const env = { TRIAGE_IMAP_PASSWORD: "hunter2" };
const stderr = { write: () => true };

async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

/** A server that refuses each way to sign in. */
async function refusing(): Promise<number> {
  const server = createServer((socket) => {
    socket.write("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 SASL-IR] hunter2\r\n");
    socket.on("error", () => {});
    socket.on("data", (data) => {
      for (const line of String(data).split("\r\n").filter(Boolean)) {
        const tag = line.split(" ", 1)[0];
        socket.write(
          `${tag} ${/AUTH/.test(line) ? "NO [AUTHENTICATIONFAILED] hunter2" : "OK"}\r\n`,
        );
      }
    });
  });
  return await portOf(server);
}

test.each([
  [{ TRIAGE_IMAP_PASSWORD: "hunter2" }, "does not let ada in. Check TRIAGE_IMAP_PASSWORD"],
  [{ ...env, TRIAGE_IMAP_TOKEN: "hunter2" }, "The token may be expired"],
  [{}, "Set TRIAGE_IMAP_PASSWORD, or TRIAGE_IMAP_TOKEN"],
])("a secret that the server refuses is one sentence without it: %j", async (env, problem) => {
  const address = parseMailboxUrl(`imap://ada@127.0.0.1:${await refusing()}/INBOX`);
  const error: unknown = await connect(address, { env, stderr }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "CliError", message: expect.stringContaining(problem) });
  expect(String(error)).not.toContain("hunter2");
});

test("a closed port, and one without TLS, are named", async () => {
  const port = await refusing();
  const closed = parseMailboxUrl("imaps://ada@127.0.0.1:1/INBOX");
  await expect(connect(closed, { env, stderr })).rejects.toThrow(
    "127.0.0.1:1 failed (ECONNREFUSED)",
  );
  const plain = parseMailboxUrl(`imaps://ada@127.0.0.1:${port}/INBOX`);
  await expect(connect(plain, { env, stderr })).rejects.toThrow(
    `127.0.0.1:${port} has no TLS. Check the port.`,
  );
});

test("a certificate that is not trusted is named with the next step", async () => {
  const port = await portOf(createTlsServer(selfSignedCertificate()));
  const address = parseMailboxUrl(`imaps://ada@127.0.0.1:${port}/INBOX`);
  await expect(connect(address, { env, stderr })).rejects.toThrow(
    `The certificate of 127.0.0.1:${port} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  );
});

/** A bridge that takes a password with TLS only; keeps what it got without TLS. */
async function bridge(refusal: string, offered = "STARTTLS ") {
  const plain: string[] = [];
  const server = createServer((socket) => {
    const answer = (text: string, isTls: boolean): string => {
      const [tag = "", word = ""] = text.trim().split(" ");
      const words = isTls ? "" : `${offered}${refusal === "" ? "LOGINDISABLED" : ""}`;
      if (word === "CAPABILITY") return `* CAPABILITY IMAP4rev1 ${words}\r\n${tag} OK\r\n`;
      if (word === "LOGIN" && !isTls) return `${tag} NO ${refusal}\r\n`;
      return `${tag} OK [ALERT] Hello ${word}\r\n`;
    };
    socket.write("* OK ready\r\n");
    socket.on("error", () => {});
    socket.on("data", (data) => {
      plain.push(String(data));
      socket.write(answer(String(data), false));
      if (!/ STARTTLS/.test(String(data))) return;
      socket.removeAllListeners("data");
      const secure = new TLSSocket(socket, { isServer: true, ...selfSignedCertificate() });
      secure.on("error", () => {});
      secure.on("data", (more) => void secure.write(answer(String(more), true)));
    });
  });
  return { port: await portOf(server), plain };
}

test.each(["", "[PRIVACYREQUIRED] use STARTTLS first"])(
  "a bridge on this machine that takes no password without TLS is asked with STARTTLS: %j",
  async (refusal) => {
    const { port, plain } = await bridge(refusal);
    const address = parseMailboxUrl(`imap://ada@127.0.0.1:${port}/INBOX`);
    const said: string[] = [];
    const print = { write: (text: string) => said.push(text) > 0 };
    const client = await connect(address, { env, stderr: print });
    client.close();
    expect(plain.filter((line) => line.includes("hunter2"))).toHaveLength(refusal === "" ? 0 : 1);
    expect(said).toContain("127.0.0.1 writes: Hello LOGIN\n");
  },
);

test.each([
  ["", "needs TLS for a password. Use imaps://."],
  ["[PRIVACYREQUIRED] first TLS", 'let ada in. The server wrote: "NO [PRIVACYREQUIRED] first TLS"'],
  ["[ALERT] Open https://b.example", 'The server wrote: "NO [ALERT] Open https://b.example"'],
])(
  "a refusal that no other password changes is told in the server's words: %j",
  async (refusal, problem) => {
    const { port } = await bridge(refusal, "");
    const address = parseMailboxUrl(`imap://ada@127.0.0.1:${port}/INBOX`);
    const error: unknown = await connect(address, { env, stderr }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: "CliError", message: expect.stringContaining(problem) });
    expect(String(error)).not.toContain("TRIAGE_IMAP_PASSWORD");
  },
);
