import { cutText } from "evaluator-client";
import clientTexts from "./client-texts.json" with { type: "json" };
import { type Conversation, type Message, type Part, findText } from "./conversation.ts";

/** Elements that coding agents put around a message: these go with their text. */
const reminderTags = Object.values(clientTexts.reminders).flat();

/** How texts begin that programs write themselves: rules, orders to sum up or to go on, a sum, events. */
const noticeStarts = Object.values(clientTexts.notices).flat();

/** How texts begin that programs put behind the user's own words: forms of the reply, steps so far. */
const clientEndings = Object.values(clientTexts.endings).flat();

/** Elements around the user's own words: only their tags go. */
const framingTags = ["task", "user_query", "feedback"];

/** Returns the user's own words of a message, or an empty text. */
export function toOwnText({ parts }: Message): string {
  const text = findText(parts.filter(isOwn));
  const whole = reminderTags.reduce((rest, name) => replaceElements(rest, name, () => ""), text);
  const textWithoutEnding = cutEnding(whole);
  const ownText = framingTags.reduce(
    (remainingText, framingTag) => replaceElements(remainingText, framingTag, (inner) => inner),
    textWithoutEnding,
  );
  if (ownText.trim() === "") return "";
  return ownText === text ? text : ownText.trim();
}

function isOwn(messagePart: Part): boolean {
  return messagePart.type !== "toolResult" && !startsWithOne(noticeStarts, findText([messagePart]));
}

function startsWithOne(knownStarts: readonly string[], text: string): boolean {
  return knownStarts.some((knownStart) => text.startsWith(knownStart));
}

function cutEnding(text: string): string {
  const endingIndexes = clientEndings.map((clientEnding) => text.indexOf(`\n${clientEnding}`));
  return text.slice(0, Math.min(text.length, ...endingIndexes.filter((start) => start !== -1)));
}

/** Replaces each closed element; an unclosed one stays. Linear: no part of the text is read twice. */
function replaceElements(text: string, tagName: string, toText: (inner: string) => string): string {
  const [openingTag, closingTag] = [`<${tagName}>`, `</${tagName}>`];
  let [replacedText, from] = ["", 0];
  for (;;) {
    const start = text.indexOf(openingTag, from);
    const end = start === -1 ? -1 : text.indexOf(closingTag, start + openingTag.length);
    if (end === -1) return replacedText + text.slice(from);
    replacedText += text.slice(from, start) + toText(text.slice(start + openingTag.length, end));
    from = end + closingTag.length;
  }
}

/** How tasks begin that programs give: a title, tags, a follow-up. */
const taskStarts = Object.values(clientTexts.tasks).flat();

const namingPattern = /\b(?:title generator|naming a coding session|sentence-case title)\b/i;

const titlePattern =
  /\b(?:generat|creat|giv|writ|provid|suggest|summari[sz])(?:e|es|ing)\b[^.!?\n]{0,120}\b(?:title|name)s?\b|[总總][结結][^。！？\n]{0,60}[标標][题題]|(?:生成|返回|作成|起)[^。！？\n]{0,60}(?:[标標][题題]|主[题題]|タイトル)/i;
const talkPattern =
  /\b(?:this|our|the|user's|following) (?:conversation|chat|thread|session|dialogue)\b|\bfor conversations\b|\bconversation summarizer\b|[会會][话話]|[对對][话話]|聊天|[这這]句[话話]/i;

/** Whether a text asks for the title of a conversation, at its beginning or its end. */
function asksForTitle(promptText: string): boolean {
  const textEnds = [promptText.slice(0, 400), promptText.slice(-400)];
  return textEnds.some((textEnd) => titlePattern.test(textEnd) && talkPattern.test(textEnd));
}

/** Whether a program asks on its own behalf, also by its system text: for a title or a commit's message. */
export function isClientTask(
  { messages, tools }: Pick<Conversation, "messages" | "tools">,
  userText: string,
): boolean {
  if (startsWithOne(taskStarts, userText.trimStart())) return true;
  const [firstMessage] = messages;
  const systemText = firstMessage?.role === "system" ? findText(firstMessage.parts) : "";
  if (namingPattern.test(systemText.slice(0, 2000))) return true;
  if (tools.length === 0 && [userText, systemText].some(asksForTitle)) return true;
  return /\bcommit messages?\b/i.test(systemText.slice(0, 200)); // later, an agent's text may describe commits
}

/** The longest follow-up, such as "yes, do it". 65 % of docs/routing.md's get the right tier, 37.5 % of their last texts. */
const MAX_FOLLOW_UP_LENGTH = 40;

/** The state of a decision, under the contract's one key. A follow-up is read after the text that it refers to. */
export function toTierState(userTexts: readonly string[]) {
  const longTextIndex = userTexts.findLastIndex(({ length }) => length > MAX_FOLLOW_UP_LENGTH);
  return { user_message: cutMessage(userTexts.slice(Math.max(0, longTextIndex)).join("\n\n")) };
}

/** The longest message in characters: Unicode code points (contract section 8). */
const MAX_MESSAGE_LENGTH = 20_000;

/** Cuts a message to 20,000 characters, or slightly less so that no character is split. */
export function cutMessage(messageText: string): string {
  if (messageText.length <= MAX_MESSAGE_LENGTH) return messageText;
  // A character has up to two UTF-16 code units.
  const characters = Array.from(messageText.slice(0, 2 * MAX_MESSAGE_LENGTH));
  const unitCount = characters.slice(0, MAX_MESSAGE_LENGTH).join("").length;
  return cutText(messageText, unitCount);
}
