import { toPrintable } from "evaluator-kit";
import { addressesIn, organisationOf, senderAddress } from "../input/mail.ts";
import type { Mail } from "../input/mail-schema.ts";

/** Returns the sender of a mail as the list shows it. */
export function senderOf(from: string) {
  const address = senderAddress(from) ?? "";
  const plain = toPrintable(from);
  const bracket = plain.lastIndexOf("<");
  const name = (bracket === -1 ? plain : plain.slice(0, bracket)).replaceAll('"', "").trim();
  if (name === "" || name.toLowerCase() === address) {
    return { sender: toPrintable(address) || plain, address: "", isMasked: false };
  }
  const isMasked = bracket !== -1 && addressesIn(name).some((other) => other !== address);
  return { sender: name, address: toPrintable(address), isMasked };
}

/** Returns the checks of the receiving host, and the signs of a forged sender among the headers. */
export function signsOf({ from, headers = {} }: Mail) {
  const { checks = {}, replyTo } = headers;
  const results = Object.entries(checks).map(([name, result]) => {
    return {
      text: toPrintable(`${name.toUpperCase()} ${result}`),
      isBad: /fail|error/.test(result),
    };
  });
  const [reply, own] = [replyTo, senderAddress(from)].map((address) => domainOf(address ?? ""));
  const isElsewhere = reply !== "" && own !== "" && reply !== own;
  return {
    checks: results.map(({ text }) => text).join(", "),
    signs: [
      ...results.filter(({ isBad }) => isBad).map(({ text }) => text),
      ...(isElsewhere ? [`replies go to ${toPrintable(reply ?? "")}`] : []),
    ],
  };
}

function domainOf(address: string): string {
  return organisationOf(address.slice(address.lastIndexOf("@") + 1));
}
