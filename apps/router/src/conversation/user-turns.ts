import { cutText } from "evaluator-client";
import clientTexts from "./client-texts.json" with { type: "json" };
import { type Conversation, type Message, type Part, findText } from "./conversation.ts";

/** Elements that coding agents put around a message: these go with their text. */
const reminders = Object.values(clientTexts.reminders).flat();

/** How texts begin that programs write themselves: rules, orders to sum up or to go on, a sum, events. */
const notices = Object.values(clientTexts.notices).flat();

/** How texts begin that programs put behind the user's own words: forms of the reply, steps so far. */
const endings = Object.values(clientTexts.endings).flat();

/** Elements around the user's own words: only their tags go. */
const frames = ["task", "user_query", "feedback"];

/** Returns the user's own words of a message, or an empty text. */
export function toOwnText({ parts }: Message): string {
  const text = findText(parts.filter(isOwn));
  const whole = reminders.reduce((rest, name) => replaceElements(rest, name, () => ""), text);
  const textWithoutEnding = cutEnding(whole);
  const own = frames.reduce(
    (rest, name) => replaceElements(rest, name, (inner) => inner),
    textWithoutEnding,
  );
  if (own.trim() === "") return "";
  return own === text ? text : own.trim();
}

function isOwn(part: Part): boolean {
  return part.type !== "toolResult" && !startsWithOne(notices, findText([part]));
}

function startsWithOne(starts: readonly string[], text: string): boolean {
  return starts.some((start) => text.startsWith(start));
}

function cutEnding(text: string): string {
  const starts = endings.map((ending) => text.indexOf(`\n${ending}`));
  return text.slice(0, Math.min(text.length, ...starts.filter((start) => start !== -1)));
}

/** Replaces each closed element; an unclosed one stays. Linear: no part of the text is read twice. */
function replaceElements(text: string, name: string, toText: (inner: string) => string): string {
  const [open, close] = [`<${name}>`, `</${name}>`];
  let [replacedText, from] = ["", 0];
  for (;;) {
    const start = text.indexOf(open, from);
    const end = start === -1 ? -1 : text.indexOf(close, start + open.length);
    if (end === -1) return replacedText + text.slice(from);
    replacedText += text.slice(from, start) + toText(text.slice(start + open.length, end));
    from = end + close.length;
  }
}

/** How tasks begin that programs give: a title, tags, a follow-up. */
const tasks = Object.values(clientTexts.tasks).flat();

const naming = /\b(?:title generator|naming a coding session|sentence-case title)\b/i;

const title =
  /\b(?:generat|creat|giv|writ|provid|suggest|summari[sz])(?:e|es|ing)\b[^.!?\n]{0,120}\b(?:title|name)s?\b|[总總][结結][^。！？\n]{0,60}[标標][题題]|(?:生成|返回|作成|起)[^。！？\n]{0,60}(?:[标標][题題]|主[题題]|タイトル)/i;
const ofTalk =
  /\b(?:this|our|the|user's|following) (?:conversation|chat|thread|session|dialogue)\b|\bfor conversations\b|\bconversation summarizer\b|[会會][话話]|[对對][话話]|聊天|[这這]句[话話]/i;

/** Whether a text asks for the title of a conversation, at its beginning or its end. */
function asksForTitle(text: string): boolean {
  const ends = [text.slice(0, 400), text.slice(-400)];
  return ends.some((end) => title.test(end) && ofTalk.test(end));
}

/** Whether a program asks on its own behalf, also by its system text: for a title or a commit's message. */
export function isClientTask(
  { messages, tools }: Pick<Conversation, "messages" | "tools">,
  userText: string,
): boolean {
  if (startsWithOne(tasks, userText.trimStart())) return true;
  const [first] = messages;
  const system = first?.role === "system" ? findText(first.parts) : "";
  if (naming.test(system.slice(0, 2000))) return true;
  if (tools.length === 0 && [userText, system].some(asksForTitle)) return true;
  return /\bcommit messages?\b/i.test(system.slice(0, 200)); // later, an agent's text may describe commits
}

/** The longest follow-up, such as "yes, do it". 65 % of docs/routing.md's get the right tier, 37.5 % of their last texts. */
const MAX_FOLLOW_UP_LENGTH = 40;

/** The state of a decision, under the contract's one key. A follow-up is read after the text that it refers to. */
export function toTierState(userTexts: readonly string[]) {
  const start = userTexts.findLastIndex(({ length }) => length > MAX_FOLLOW_UP_LENGTH);
  return { user_message: cutMessage(userTexts.slice(Math.max(0, start)).join("\n\n")) };
}

/** The longest message in characters: Unicode code points (contract section 8). */
const MAX_MESSAGE_LENGTH = 20_000;

/** Cuts a message to 20,000 characters, or slightly less so that no character is split. */
export function cutMessage(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  // A character has up to two UTF-16 code units.
  const characters = Array.from(message.slice(0, 2 * MAX_MESSAGE_LENGTH));
  const units = characters.slice(0, MAX_MESSAGE_LENGTH).join("").length;
  return cutText(message, units);
}
