import { expect, test, vi } from "vitest";
import {
  createCommand,
  decimal,
  Option,
  runCommand,
  parseShare,
  wholeNumber,
  wordList,
} from "./commands.ts";
import { UsageError } from "./errors.ts";
import { createTestContext } from "./testing/test-context.ts";

async function run(...words: string[]) {
  const context = createTestContext();
  const seen: unknown[] = [];
  const program = createCommand("copy", { context, version: "1.2.3" });
  program
    .command("file")
    .summary("copy a file")
    .description("It is left unchanged.")
    .argument("<file>", "the file")
    .option("--journal <name>", "where to write")
    .option("--raw", "as it is")
    .addOption(
      new Option("--times <n>", "how often").argParser(wholeNumber({ minimum: 1, maximum: 9 })),
    )
    .addOption(new Option("--price <usd>", "price").argParser(decimal({ what: "US dollars" })))
    .addOption(new Option("--fields <list>", "fields").argParser(wordList(["a", "b"])))
    .addOption(new Option("--format <format>", "format").choices(["json", "csv"]))
    .action((file, options) => {
      seen.push(file, options);
      context.exitCode = 2;
    });
  const exitCode = await runCommand(program, words, context);
  return { exitCode, seen, stdout: context.printed.stdout };
}

test("a command gets its typed options, and its exit code is the program's", async () => {
  const { exitCode, seen } = await run("file", "x", "--times", "3", "--fields", "b,a", "--raw");
  expect(exitCode).toBe(2);
  expect(seen).toEqual(["x", { times: 3, fields: ["a", "b"], raw: true }]);
});

test.each([
  ["99.9%", 0.999],
  ["5 %", 0.05],
  ["0.07", 0.07],
  ["7%", 0.07],
])("the share %s is exactly %s", (text, value) => {
  expect(parseShare(text)).toBe(value);
});

test("--version and --help print to the context and end with 0", async () => {
  expect(await run("--version")).toMatchObject({ exitCode: 0, stdout: "1.2.3\n" });
  const { stdout } = await run("file", "--help");
  expect(stdout).toContain(
    "Usage: copy file [options] <file>\n\nCopy a file. It is left unchanged.\n",
  );
  expect(stdout).toContain('(choices: "json", "csv")');
});

test("a misspelt option is named before a missing one", async () => {
  const context = createTestContext();
  const program = createCommand("copy", { context, version: "1.2.3" });
  program.command("file").requiredOption("--state <file>", "the state");
  const run = (...words: string[]) => runCommand(program, words, context);
  await expect(run("file", "--sate", "a")).rejects.toThrow("'--sate' (Did you mean --state?)");
  await expect(run("file")).rejects.toThrow("Required option '--state <file>' not specified.");
});

test.each([
  [[], "Name a command: file."],
  [["file"], "Missing required argument 'file'."],
  [["file", "x", "--tims", "3"], "Unknown option '--tims' (Did you mean --times?)"],
  [["flie"], "Unknown command 'flie' (Did you mean file?)"],
  [["help", "flie"], "Unknown command 'flie' (Did you mean file?)"],
  [["flie", "--help"], "Unknown command 'flie' (Did you mean file?)"],
  [["file", "x", "y"], "Too many arguments for 'file'. Expected 1 argument but got 2: x, y."],
  [["file", "x", "--journal", "--raw"], "--journal needs a value: --journal <name>."],
  [["file", "x", "--journal"], "Option '--journal <name>' argument missing."],
  [
    ["file", "x", "--times", "0"],
    "Option '--times <n>' argument '0' is invalid. Use a whole number from 1 to 9, such as 2.",
  ],
  [
    ["file", "x", "--price", "1e3"],
    "Option '--price <usd>' argument '1e3' is invalid. Use US dollars from 0 up, such as 0.5.",
  ],
  [
    ["file", "x", "--fields", "a,c"],
    "Option '--fields <list>' argument 'a,c' is invalid. Use some of a, b, with commas between.",
  ],
  [
    ["file", "x", "--format", "\u001B[31mxml"],
    "Option '--format <format>' argument 'xml' is invalid. Allowed choices are json, csv.",
  ],
])("%j is refused", async (words, message) => {
  const text = `${message}\nFor its options: copy${words[0] === "file" ? " file" : ""} --help`;
  await expect(run(...words)).rejects.toThrow(new UsageError(text));
});

test("a wrong word that the command itself finds names its help too, and other errors do not", async () => {
  const context = createTestContext();
  const program = createCommand("npm run it --", { context, version: "1.2.3" });
  program.argument("[file]").action((file) => {
    throw file === undefined ? new UsageError("FILE is missing.") : new TypeError(file);
  });
  const message = "FILE is missing.\nFor its options: npm run it -- --help";
  await expect(runCommand(program, [], context)).rejects.toThrow(new UsageError(message));
  await expect(runCommand(program, ["x"], context)).rejects.toThrow(new TypeError("x"));
});

test.each(["--help", "-h"])("%s prints the help, whatever else is typed", async (word) => {
  const { exitCode, seen, stdout } = await run("file", "--fast", word);
  expect({ exitCode, seen }).toEqual({ exitCode: 0, seen: [] });
  expect(stdout).toContain("Usage: copy file [options] <file>");
});

test("help before a command is --help after it", async () => {
  expect(await run("help", "file")).toEqual(await run("file", "--help"));
  expect((await run("help")).stdout).toContain(
    "Completion in a shell: copy complete bash|zsh|fish",
  );
});

test("complete prints the script of a shell, and one line for each suggestion", async () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const printed = async (...words: string[]) => {
    log.mockClear();
    await run("complete", ...words);
    return log.mock.calls.flat().join("\n");
  };
  for (const shell of ["bash", "zsh", "fish"])
    expect(await printed(shell)).toContain(`# ${shell} completion for copy`);
  expect(await printed("--", "fi")).toMatch(/^file\t/);
  expect(await printed("--", "file", "--fo")).toContain("--format\tformat");
  await expect(run("complete", "tcsh")).rejects.toThrow("Allowed choices are zsh, bash, fish");
});
