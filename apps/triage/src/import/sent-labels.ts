/** Names of the sent label in the languages of Gmail; the Gmail API has `SENT`. */
const sentNames = namesIn(`
Sent, Sent Mail, Sent Messages, Gesendet, Messages envoyés, Envoyés, Enviados, Enviado,
Mensajes enviados, E-mails enviados, Correio enviado, Enviats, Posta inviata, Inviati, Verzonden,
Verzonden berichten, Sendt, Sendte mails, Sendt e-post, Skickat, Skickade, Lähetetyt,
Lähetetyt viestit, Wysłane, Odeslané, Odeslaná pošta, Odoslané, Elküldött, Elküldött levelek,
Elküldött üzenetek, Trimise, Mesaje trimise, Gönderilmiş Postalar, Gönderilenler, Gönderilmiş,
Απεσταλμένα, Отправленные, Надіслані, Изпратени, נשלח, דואר יוצא, المرسلة, البريد المرسل,
भेजे गए, ส่งแล้ว, จดหมายที่ส่งแล้ว, Đã gửi, Thư đã gửi, Terkirim, Surat Terkirim, 送信済み, 送信済みメール,
Envoyé, Odesláno, Sendte, Poslano, Saadetud, Nosūtītie, Išsiųsti, Послато, Poslate, Enviada,
보낸편지함, 已发送, 已发邮件, 已发送邮件, 寄件備份, 寄件備份匣`);

/** Labels for the handling of a mail; they name no folder. */
const handling = namesIn(`
Read, Unread, Opened, Archived, Gelesen, Ungelesen, Geöffnet, Archiviert, Lus, Non lus, Ouvert,
Archivé, Leído, No leído, No leídos, Abierto, Archivado, Lido, Não lidas, Não lido, Aberto,
Archivés, Messages archivés, Ouverts, Přečtené, Nepřečtené, Otevřeno, Archivováno, Lest, Ulest,
Læst, Ulæst, Åpnet, Åbnet, Arkivert, Arkiveret, Läst, Oläst, Öppnat, Arkiverat, Przeczytane,
Nieprzeczytane, Otwarte, Zarchiwizowane, Olvasott, Olvasatlan, Citite, Necitite, Okunmuş, Okunmamış,
Прочитанные, Непрочитанные, Открытые, В архиве, 既読, 未読, 開封済み, 已读, 未读, 已打开, 已归档,
Arquivado, Da leggere, Aperto, Archiviato, Gelezen, Ongelezen, Geopend, Gearchiveerd`);

/** The labels of Gmail's tabs, such as "Category Updates". */
const category =
  /^(?:category[ _]|(?:kategorie|catégorie|categoría|categoria|categorie|kategori|kategória|kategoria|категория|категорія)\s?:)/;

/** Returns a function that checks if a mail has only sent labels and was not received (contract section 4.7). */
export function onlySentRule(otherSentLabels: readonly string[] = []) {
  const sent = new Set([...sentNames, ...otherSentLabels.map(toName)]);
  return (labels: readonly string[] | null): boolean => {
    const names = (labels ?? []).map(toName);
    const folders = names.filter(
      (name) => name !== "" && !handling.includes(name) && !category.test(name),
    );
    return folders.length > 0 && folders.every((name) => sent.has(name));
  };
}

function namesIn(list: string): string[] {
  return list.split(",").map(toName);
}

function toName(label: string): string {
  return label.normalize("NFC").trim().toLowerCase();
}
