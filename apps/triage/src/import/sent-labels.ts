const byLanguage = {
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

/**
 * What the sent label is called: `SENT` in the Gmail API, and in an export the word of the language
 * that Gmail was set to, as its sidebar and its IMAP folder have it. `--sent-label` adds another.
 */
export const sentLabels: readonly string[] = Object.values(byLanguage).flat();
