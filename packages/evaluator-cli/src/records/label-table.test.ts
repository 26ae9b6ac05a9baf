import { expect, test } from "vitest";
import { startLabel } from "../testing/label-page.ts";
import { folderOf, runTable } from "../testing/tickets.ts";

const tickets = `number,sender,body
1,ada,Refund!
2,ada,A refund?
3,bob,Hello
4,,The app crashes
5,,Again
`;

test("with --one-per no two drawn records have the same value of a column beside the state", async () => {
  const cwd = await folderOf({ "tickets.csv": tickets });
  await runTable(cwd, ["tickets.csv", "--id", "number", "--state", "body"]);
  const countOf = async (...words: string[]) => {
    const { origin, stop } = await startLabel(cwd, ...words);
    const html = await (await fetch(origin)).text();
    await stop();
    return /of (\d+) labelled/.exec(html)?.[1];
  };
  expect(await countOf()).toBe("5");
  // One of Ada, one of Bob, and two without a sender.
  expect(await countOf("--one-per", "sender")).toBe("4");
  await expect(startLabel(cwd, "--one-per", "thread")).rejects.toThrow(
    'No record has a field "thread". Name another with --one-per, such as body, number, sender',
  );
});
