import { expect, test } from "vitest";
import { hideSecret, isBusy, mayBeOneMail, findRefusal, toServerWords } from "./refusals.ts";

const refused = (code: string, responseText: string) => {
  const attributes = [{ section: code === "" ? [] : [{ value: code }] }];
  const fields = { responseStatus: "NO", responseText, response: { attributes } };
  return Object.assign(new Error("Command failed"), fields);
};

test.each([
  ["THROTTLED", "Slow down", true],
  ["OVERQUOTA", "Account exceeded command or bandwidth limits. (Failure)", true],
  ["INUSE", "Mailbox is in use", true],
  ["LIMIT", "Too many commands", true],
  ["CONTACTADMIN", "Ask your administrator", true],
  ["", "Server Unavailable. 15", true],
  ["", "User is authenticated but not connected.", true],
  ["ALERT", "Too many simultaneous connections. (Failure)", true],
  ["", "Too many connections from your address", true],
  ["ALERT", "Account exceeded bandwidth limits. (Failure)", true],
  ["", "Lookup failed", true],
  ["", "System Error (Failure)", true],
  ["NOPERM", "System Error", false],
  ["NOPERM", "The folder UNAVAILABLE, try again later", false],
  ["AUTHENTICATIONFAILED", "Try again later", false],
  ["", "Mailbox LIMIT does not exist", false],
])("whether a server is busy: [%s] %s", (code, text, expected) => {
  expect(isBusy(refused(code, text))).toBe(expected);
});

test.each([
  ["", "Some messages could not be FETCHed (Failure)", true],
  ["SERVERBUG", "Internal error occurred", true],
  ["EXPUNGEISSUED", "Some messages are gone", true],
  ["", "System Error (Failure)", true],
  ["", "Internal server error", true],
  ["THROTTLED", "Slow down", false],
  ["", "Lookup failed", false],
])("whether one mail may be the cause: [%s] %s", (code, text, expected) => {
  expect(mayBeOneMail(refused(code, text))).toBe(expected);
});

test("the words have the code, one line, no control characters and no secret", () => {
  hideSecret("hunter2");
  const error = refused("ALERT", "Go to\r\nhttps://mail.example.com/\u001B[31m as ada hunter2");
  const words = "NO [ALERT] Go to https://mail.example.com/ as ada …";
  expect(findRefusal(error)).toEqual({ code: "ALERT", serverWords: words });
  for (const sent of ["hunter2", "\0ada\0hunter2", "user=ada\u0001auth=Bearer hunter2\u0001\u0001"])
    expect(toServerWords(`No ${Buffer.from(sent).toString("base64")}.`)).toBe("No ….");
  expect(toServerWords("a".repeat(5000))).toHaveLength(300);
  expect(findRefusal(new Error("no refusal"))).toBeNull();
});
