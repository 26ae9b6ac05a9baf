/** Names of the sent label in the languages of Gmail; the Gmail API has `SENT`. */
const sentByLanguage = {
  english: ["Sent", "Sent Mail", "Sent Messages"],
  german: ["Gesendet"],
  french: ["Messages envoyés", "Envoyés"],
  spanishOrPortuguese: ["Enviados", "Enviado", "Mensajes enviados"],
  portuguese: ["E-mails enviados", "Correio enviado"],
  catalan: ["Enviats"],
  italian: ["Posta inviata", "Inviati"],
  dutch: ["Verzonden", "Verzonden berichten"],
  danishOrNorwegian: ["Sendt", "Sendte mails", "Sendt e-post"],
  swedish: ["Skickat", "Skickade"],
  finnish: ["Lähetetyt", "Lähetetyt viestit"],
  polish: ["Wysłane"],
  czech: ["Odeslané", "Odeslaná pošta"],
  slovak: ["Odoslané"],
  hungarian: ["Elküldött", "Elküldött levelek", "Elküldött üzenetek"],
  romanian: ["Trimise", "Mesaje trimise"],
  turkish: ["Gönderilmiş Postalar", "Gönderilenler", "Gönderilmiş"],
  greek: ["Απεσταλμένα"],
  russian: ["Отправленные"],
  ukrainian: ["Надіслані"],
  bulgarian: ["Изпратени"],
  hebrew: ["נשלח", "דואר יוצא"],
  arabic: ["المرسلة", "البريد المرسل"],
  hindi: ["भेजे गए"],
  thai: ["ส่งแล้ว", "จดหมายที่ส่งแล้ว"],
  vietnamese: ["Đã gửi", "Thư đã gửi"],
  indonesian: ["Terkirim", "Surat Terkirim"],
  japanese: ["送信済み", "送信済みメール"],
  korean: ["보낸편지함"],
  simplifiedChinese: ["已发送", "已发邮件", "已发送邮件"],
  traditionalChinese: ["寄件備份", "寄件備份匣"],
};

/** Labels for the handling of a mail; they name no folder. */
const handlingByLanguage = {
  english: ["Read", "Unread", "Opened", "Archived"],
  german: ["Gelesen", "Ungelesen", "Geöffnet", "Archiviert"],
  french: ["Lus", "Non lus", "Ouvert", "Archivé"],
  spanish: ["Leído", "No leído", "No leídos", "Abierto", "Archivado"],
  portuguese: ["Lido", "Não lidas", "Não lido", "Aberto", "Arquivado"],
  italian: ["Da leggere", "Aperto", "Archiviato"],
  dutch: ["Gelezen", "Ongelezen", "Geopend", "Gearchiveerd"],
};
const handling = new Set(Object.values(handlingByLanguage).flat().map(toName));

/** Returns a function that checks if a mail has only sent labels and was not received (contract section 4.7). */
export function onlySentRule(otherSentLabels: readonly string[] = []) {
  const sent = new Set([...Object.values(sentByLanguage).flat(), ...otherSentLabels].map(toName));
  return (labels: readonly string[] | null): boolean => {
    const names = (labels ?? []).map(toName);
    const folders = names.filter((name) => name !== "" && !handling.has(name));
    return folders.length > 0 && folders.every((name) => sent.has(name));
  };
}

function toName(label: string): string {
  return label.normalize("NFC").trim().toLowerCase();
}
