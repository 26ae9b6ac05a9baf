import { expect, test } from "vitest";
import { readTalk } from "../decision/turns.ts";
import type { Conversation, Message, Part } from "./conversation.ts";
import { isClientTask, toTierState } from "./user-turns.ts";

const text = (value: string): Part => ({ type: "text", text: value });
const result: Part = { type: "toolResult", id: "1", parts: [], isError: false };

function conversation(
  ...messages: readonly (readonly [Message["role"], ...Part[]])[]
): Conversation {
  return {
    messages: messages.map(([role, ...parts]) => ({ role, parts })),
    tools: [],
    toolChoice: null,
    format: null,
    settings: {},
    providerOptions: {},
  };
}

const userTurns = (talk: Conversation) => readTalk(talk).texts;
const said = (value: string) => userTurns(conversation(["user", text(value)]));

test("each message with the user's own text is a turn", () => {
  const talk = conversation(
    ["system", text("Be brief.")],
    ["user", text("Write a parser")],
    ["assistant", text("Which?")],
    ["user", text("JSON")],
  );
  expect(userTurns(talk)).toEqual(["Write a parser", "JSON"]);
});

test("tool results begin no turn, nor do reminders beside them", () => {
  const reminder = text("<system-reminder>The file changed.</system-reminder>");
  const talk = conversation(["user", text("Go")], ["assistant"], ["user", result, reminder]);
  expect(userTurns(talk)).toEqual(["Go"]);
});

test("a folder's rules beside a message are left out", () => {
  const rules = text("# AGENTS.md instructions for /shop\n\nBe brief.");
  expect(userTurns(conversation(["user", rules, text("Go")]))).toEqual(["Go"]);
});

test.each([
  "Tool loaded.",
  "[structured-output-enforce] Call it",
  "[Request interrupted by user for tool use]",
])("%s begins no turn", (event) => {
  const talk = conversation(["user", text("Go")], ["user", result, text(event)]);
  expect(userTurns(talk)).toEqual(["Go"]);
});

test("text beside a tool result begins a turn", () => {
  expect(userTurns(conversation(["user", result, text("Stop, do it so")]))).toEqual([
    "Stop, do it so",
  ]);
});

test.each([
  ["<environment_details>\n# Time\n10:00\n</environment_details>", []],
  ["hi <user_info>Linux</user_info>", ["hi"]],
  ["<task>\nfix it\n</task>\n<environment_details>x</environment_details>", ["fix it"]],
  ["<user_query>a</user_query> and <feedback>b</feedback>", ["a and b"]],
  ["<environment_context>\n  <cwd>/shop</cwd>\n</environment_context>", []],
  ["<command-name>/fix</command-name>\n<command-args>all</command-args>\nFix all", ["Fix all"]],
  ["# AGENTS.md instructions for /shop\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>", []],
  ["Explain # AGENTS.md instructions", ["Explain # AGENTS.md instructions"]],
  ["You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary", []],
  ["Another language model started to solve this problem and produced a summary", []],
  ["This session is being continued from a previous conversation that ran out of", []],
  ["CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is a summary", []],
  [
    "<mode_notice>The user switched to plan mode.</mode_notice>\nand now a plan",
    ["and now a plan"],
  ],
  ['<subagent_notification>{"status":"completed"}</subagent_notification>', []],
  ["<task-notification>\n<task-id>b3</task-id>\n</task-notification>", []],
  ["<system_notification>\nShell command has completed.\n</system_notification>", []],
  ["<mode_changed_notice>\n<plan_mode>a</plan_mode>\n</mode_changed_notice>\n\nGo", ["Go"]],
  ["Fix it.\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block must use this form", ["Fix it."]],
  ["I have *added these files to the chat* so you can go ahead and edit them.", []],
  ["[[ ## question ## ]]\nWhy?\n\n[[ ## trajectory ## ]]\n\n", ["[[ ## question ## ]]\nWhy?"]],
  ["Observation:\nsunny", []],
  ["Observation: the page is blank", ["Observation: the page is blank"]],
  ["<user_shell_command_output>\nls\n</user_shell_command_output>", []],
  ["Please create a detailed summary of the conversation so far. The history is long", []],
  ["Please create a detailed summary", ["Please create a detailed summary"]],
  ["The conversation history has been summarized to free up context.\n\nYou were", []],
  ["<system-reminder>never closed", ["<system-reminder>never closed"]],
  ["a</system-reminder><system-reminder>b", ["a</system-reminder><system-reminder>b"]],
  ["  spaces stay  ", ["  spaces stay  "]],
])("harness text is left out: %j", (given, own) => {
  expect(said(given)).toEqual(own);
});

test("an image without text is a turn", () => {
  expect(userTurns(conversation(["user", { type: "image", url: "https://a.example/b" }]))).toEqual([
    "[image]",
  ]);
});

test("the state is the message, cut as the contract says", () => {
  expect(toTierState(["x".repeat(30_000)]).user_message).toHaveLength(20_000);
  const long = "Now translate this letter into Italian, please.";
  expect(toTierState(["Prove it.", long])).toEqual({ user_message: long });
});

test("a follow-up is read after the text that it refers to", () => {
  const work = "Write a complete payroll system with taxes for three countries";
  const state = toTierState(["hi", work, "go on", "yes, do it"]);
  expect(state).toEqual({ user_message: `${work}\n\ngo on\n\nyes, do it` });
  expect(toTierState(["hi", "thanks"])).toEqual({ user_message: "hi\n\nthanks" });
});

test("a program's text that continues a reply begins no turn", () => {
  const resume = text(
    "The connection dropped mid-response. Resume directly — no apology, no recap.",
  );
  const talk = conversation(["user", text("Go")], ["assistant", text("He")], ["user", resume]);
  expect(userTurns(talk)).toEqual(["Go"]);
});

test("requests for titles, tags and follow-ups are a client's task", () => {
  const task = "### Task:\nGenerate a concise title";
  expect(isClientTask(conversation(["user", text(task)]), task)).toBe(true);
  const commit = "Write an insightful and concise Git commit message in the present tense";
  expect(isClientTask(conversation(["user", text(commit)]), commit)).toBe(true);
  const isTask = (system: string) =>
    isClientTask(conversation(["system", text(system)], ["user", text("hi")]), "hi");
  expect(isTask("You are a title generator.")).toBe(true);
  expect(isTask("You are naming a coding session so that")).toBe(true);
  expect(isTask("Generate a concise, sentence-case title (3-7 words) that captures")).toBe(true);
  const agent = "You are an agent for software engineering. ".repeat(5);
  expect(isTask(`${agent}Never write "AI" into commit messages.`)).toBe(false);
  expect(isClientTask(conversation(["user", text("hi")]), "What is a title generator?")).toBe(
    false,
  );
});

const titles = [
  "Generate a concise 3-7 word title for this conversation, omitting punctuation.", // Zed
  "Please generate a four to five word title summarizing our conversation without any lead-in.", // NextChat
  "Based on the chat history, give this conversation a name.\nKeep it short.", // Chatbox
  "You need to summarize the user's conversation into a title of no more than 10 words.", // Cherry Studio
  "You are a professional conversation summarizer. Generate a concise title of a few words.", // LobeChat
  "你需要将用户的会话总结为不超过十个字的标题，不要使用标点符号", // Cherry Studio and LobeChat in Chinese
  "直接返回这句话的简要主题，不要解释", // NextChat in Chinese
  "請為這段對話生成一個簡短的標題。",
  "You create short titles for conversations.",
];

test.each(titles)("%s is a client's task without tools", (asked) => {
  const talk = conversation(["user", text("hi")], ["user", text(asked)]);
  expect(isClientTask(talk, asked)).toBe(true);
  expect(isClientTask(conversation(["system", text(asked)], ["user", text("hi")]), "hi")).toBe(
    true,
  );
  const tools = [{ name: "look", description: null, parameters: {}, strict: null }];
  expect(isClientTask({ ...talk, tools }, asked)).toBe(false);
});

test.each([
  "Give me a name for my chat app",
  "Write a title for my essay about rivers",
  "请总结这篇文章，并给出标题",
  "帮我写一段关于聊天的对话",
])("%s is the user's own question", (asked) => {
  expect(isClientTask(conversation(["user", text(asked)]), asked)).toBe(false);
});
