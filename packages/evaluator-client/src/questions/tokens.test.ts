import { expect, test } from "vitest";
import { estimateTextTokens, mostTextTokens } from "./tokens.ts";

// The counts of o200k and cl100k (gpt-tokenizer 3) and of Llama 3 (llama3-tokenizer-js 1.2), which
// differ by up to half of each other beyond English.
const samples: readonly (readonly [string, string, readonly [number, number, number]])[] = [
  [
    "English mail",
    "Hello Maria,\n\nthank you for your message of last Tuesday. I have looked at the invoice again, and you are right: the second item was charged twice. We will send the difference of 48.50 EUR back to your account within five working days. If you have any further questions, please reply to this message or call us between nine and five.\n\nKind regards,\nThomas",
    [76, 76, 76],
  ],
  [
    "German",
    "Sehr geehrte Frau Schneider, vielen Dank für Ihre Nachricht vom letzten Dienstag. Wir haben die Rechnung noch einmal überprüft und festgestellt, dass die zweite Position doppelt berechnet wurde. Den Differenzbetrag überweisen wir Ihnen innerhalb von fünf Werktagen auf Ihr Konto zurück. Für die entstandenen Unannehmlichkeiten möchten wir uns entschuldigen.",
    [71, 90, 90],
  ],
  [
    "Spanish",
    "Estimada señora: gracias por su mensaje del martes pasado. Hemos revisado la factura y comprobado que el segundo artículo se cobró dos veces. La diferencia se abonará en su cuenta en un plazo de cinco días laborables. Le pedimos disculpas por las molestias y quedamos a su disposición para cualquier consulta.",
    [65, 75, 75],
  ],
  [
    "Polish",
    "Szanowna Pani, dziękujemy za wiadomość z ubiegłego wtorku. Sprawdziliśmy fakturę i stwierdziliśmy, że druga pozycja została naliczona dwukrotnie. Różnicę zwrócimy na Pani konto w ciągu pięciu dni roboczych. Przepraszamy za kłopot i pozostajemy do dyspozycji w razie pytań.",
    [98, 113, 111],
  ],
  [
    "Russian",
    "Здравствуйте, Мария! Спасибо за ваше сообщение от прошлого вторника. Мы ещё раз проверили счёт и увидели, что вторая позиция была начислена дважды. Разницу мы вернём на ваш счёт в течение пяти рабочих дней. Приносим извинения за неудобства. Если у вас есть вопросы, ответьте на это письмо.",
    [75, 135, 92],
  ],
  [
    "Chinese",
    "您好，感谢您上周二的来信。我们再次核对了发票，发现第二个项目被重复收费了。我们将在五个工作日内把差额退回您的账户。对于给您带来的不便，我们深表歉意。如果您还有其他问题，请直接回复这封邮件，或者在工作时间内给我们打电话。",
    [77, 107, 87],
  ],
  [
    "Japanese",
    "お世話になっております。先週の火曜日にいただいたメールについてご連絡いたします。請求書をもう一度確認したところ、二番目の項目が二重に請求されていることが分かりました。差額は五営業日以内にお客様の口座へ返金いたします。ご不便をおかけして申し訳ございません。ご質問がございましたら、このメールにご返信ください。",
    [100, 157, 101],
  ],
  [
    "Korean",
    "안녕하세요. 지난 화요일에 보내 주신 메시지 감사합니다. 청구서를 다시 확인한 결과 두 번째 항목이 두 번 청구된 것을 확인했습니다. 차액은 영업일 기준 오 일 이내에 고객님의 계좌로 환불해 드리겠습니다. 불편을 드려 죄송합니다. 궁금한 점이 있으시면 이 메일에 답장해 주세요.",
    [85, 141, 89],
  ],
  [
    "JSON rows",
    '[{"id":"t-1001","from":"ada@example.com","subject":"Refund","amount":129.95,"paid":true,"tags":["billing","urgent"]},{"id":"t-1002","from":"bob@example.org","subject":"Login fails","amount":0,"paid":false,"tags":["access"]}]',
    [67, 68, 68],
  ],
  [
    "Logs",
    "2026-11-21T10:32:11.482Z INFO  [http] GET /v1/key 200 12.4ms req=7f3a9c21 bytes=1842\n2026-11-21T10:32:11.913Z WARN  [pool] connection 10.0.3.17:5432 slow: 842ms (limit 500ms)\n2026-11-21T10:32:12.004Z ERROR [worker-3] job 9918273 failed after 3 attempts: ETIMEDOUT\n",
    [126, 126, 126],
  ],
  [
    "TypeScript",
    "export async function readAll<TRecord>(source: AsyncIterable<TRecord>, { limit = 100 }: ReadOptions = {}) {\n  const records: TRecord[] = [];\n  for await (const record of source) {\n    if (records.length >= limit) break;\n    records.push(record);\n  }\n  return records;\n}\n",
    [67, 67, 67],
  ],
];

test.each(samples)("%s: within 25 %% of three tokenizers' mean", (_, text, counts) => {
  const mean = (counts[0] + counts[1] + counts[2]) / 3;
  const share = estimateTextTokens(text) / mean;
  expect(share).toBeGreaterThan(0.75);
  expect(share).toBeLessThan(1.25);
});

test("an empty text has no tokens, and each character of a long one is counted", () => {
  expect(estimateTextTokens("")).toBe(0);
  expect(estimateTextTokens("文".repeat(10_000))).toBe(8000);
  expect(estimateTextTokens("7".repeat(9000))).toBe(3000);
});

// The highest counts of ten tokenizers: o200k, cl100k and p50k (gpt-tokenizer 3), Llama 2 and 3, Mistral, Claude 2,
// Qwen 3, Gemma 3 and DeepSeek 3. No text takes more tokens than bytes, and some scripts take nearly as many.
const worst: readonly (readonly [string, string, number, string])[] = [
  [
    "English",
    "Hello Maria,\n\nthank you for your message of last Tuesday. I have looked at the invoice again, and you are right: the second item was charged twice.",
    38,
    "Llama 2",
  ],
  [
    "Hindi",
    "प्रिय महोदया, पिछले मंगलवार के आपके संदेश के लिए धन्यवाद। हमने बिल को फिर से जाँचा और पाया कि दूसरी वस्तु का शुल्क दो बार लिया गया था।",
    201,
    "p50k",
  ],
  ["Armenian", "Հարգելի տիկին, շնորհակալություն", 59, "Claude 2"],
  ["Amharic", "ውድ ደንበኛችን፣ ባለፈው ማክሰኞ", 54, "Llama 2"],
  ["rare Chinese", "龘靐齉齾爨麤鱻灪籲鸞驫羴厵灩讟饢钃鑭癵齇鼺龗鸝", 69, "Llama 2"],
  ["digits", "4929156018273645546372819046258193", 34, "Gemma 3"],
];

test.each(worst)("%s has no more tokens than bytes in the worst tokenizer", (_, text, tokens) => {
  expect(mostTextTokens(text)).toBeGreaterThanOrEqual(tokens);
  expect(estimateTextTokens(text)).toBeLessThanOrEqual(mostTextTokens(text));
});
