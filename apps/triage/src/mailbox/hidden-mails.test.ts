import { expect, onTestFinished, test } from "vitest";
import { PLAN, serverWithPlan } from "../testing/server-with-plan.ts";
import { startProxy } from "../testing/start-proxy.ts";

/** A server that may not hand out the mails with UID 1, whose commands are kept. */
async function serverThatHides(actions: Record<string, string>) {
  const { server, lines, write, run, state } = await serverWithPlan(actions);
  const address = server.server.address();
  const target = typeof address === "object" ? (address?.port ?? 0) : 0;
  const commands: string[] = [];
  const control = {
    isHidden: false,
    onCommand: (_line: string): void => {},
    toCommand: (line: string) => line,
    onReply: (text: string) => text,
  };
  const proxy = await startProxy(target, {
    onCommand(line) {
      commands.push(line);
      control.onCommand(line);
    },
    toCommand: (line) => control.toCommand(line),
    onReply(text) {
      const shown = control.isHidden ? text.replace(/\bUID 1(?=[ )])/g, "UID 901") : text;
      return control.onReply(shown);
    },
  });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  for (const line of lines) line.account = `imap://testuser@127.0.0.1:${proxy.port}`;
  await write(lines);
  return { control, commands, run, state };
}

test("a mail that is not handed out is left alone, and the others are done", async () => {
  const { control, run, state } = await serverThatHides({ a: "flag", b: "flag" });
  control.isHidden = true;
  const { exitCode, stderr } = await run("apply", PLAN);
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining("1 mail: the server did not send it; run again later: a"),
  ]);
  expect(state()).toEqual({ INBOX: "a, b \\Flagged, c, d, e, f" });
});

test("a flag is taken back, if the server did not hand out the mail after the command", async () => {
  const { control, commands, run, state } = await serverThatHides({ a: "flag" });
  const before = state();
  control.onCommand = (line) => {
    if (line.includes("UID STORE")) control.isHidden = true;
  };
  const told = "the server does not send it, so its change is unknown";
  expect(await run("apply", PLAN)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(told),
  });
  expect(state()).not.toEqual(before);
  const sent = commands.filter((line) => line.includes("UID STORE")).length;
  // Now the mail is handed out only when it is looked at again.
  let looks = 0;
  control.onCommand = (line) => {
    if (line.includes("UID FETCH 1 ")) looks += 1;
    control.isHidden = looks < 3;
  };
  expect((await run("apply", PLAN)).stderr).toContain(told);
  expect(commands.filter((line) => line.includes("UID STORE"))).toHaveLength(sent);
  control.onCommand = () => {};
  control.isHidden = false;
  expect(await run("undo", PLAN)).toMatchObject({ exitCode: 0, stderr: "Undid 1 mail.\n" });
  expect(state()).toEqual(before);
});

test("a moved mail is moved back, if the target folder did not hand it out", async () => {
  const { control, run, state } = await serverThatHides({ a: "archive" });
  const before = state();
  control.onReply = (text) => text.replaceAll(/\[COPYUID [^\]]*\]/g, "");
  control.onCommand = (line) => {
    if (line.includes("UID MOVE")) control.isHidden = true;
  };
  expect((await run("apply", PLAN)).exitCode).toBe(2);
  expect(state()).toMatchObject({ Archive: "a" });
  control.onCommand = () => {};
  control.isHidden = false;
  expect(await run("undo", PLAN)).toMatchObject({ exitCode: 0, stderr: "Undid 1 mail.\n" });
  expect(state()).toEqual(before);
});

test("without the UIDNEXT of the target no mail is moved", async () => {
  const { control, run, state } = await serverThatHides({ a: "archive", b: "flag" });
  control.onReply = (text) => text.replaceAll(/UIDNEXT \d+ ?(?=[^\]]*\))/g, "");
  const { exitCode, stderr } = await run("apply", PLAN);
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining("is refused: the server gives no UIDNEXT: a"),
  ]);
  expect(state()).toEqual({ INBOX: "a, b \\Flagged, c, d, e, f" });
});

test("why the server refused a command is told in its words", async () => {
  const { control, run, state } = await serverThatHides({ a: "archive" });
  control.toCommand = (line) => line.replace(/(UID MOVE \S+ ).*/, "$1Nowhere");
  const { exitCode, stderr } = await run("apply", PLAN);
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining('refused it. The server wrote: "NO Target mailbox does not exist": a'),
  ]);
  expect(state()).toEqual({ INBOX: "a, b, c, d, e, f" });
});
