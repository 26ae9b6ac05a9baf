/** The sent label as Gmail's interface names it in larger languages, and its API (`SENT`). */
const sent = new Set(
  "sent,gesendet,messages envoyés,enviados,enviado,posta inviata,inviati,verzonden,skickat,wysłane,отправленные,送信済み,보낸편지함,已发送邮件".split(
    ",",
  ),
);

/** Labels that say how a mail was handled, and not where it belongs. */
const handling = new Set(["read", "unread", "opened", "archived", "geöffnet", "ungelesen"]);

/** Whether a mail carries only the sent label, and is none the user received (contract section 4.7). */
export function isOnlySent(labels: readonly string[] | null): boolean {
  const places = (labels ?? [])
    .map((label) => label.toLowerCase())
    .filter((label) => label !== "" && !handling.has(label));
  return places.length > 0 && places.every((label) => sent.has(label));
}
