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
  [
    "Finnish",
    "Hyvä rouva Virtanen, kiitos viestistänne viime tiistailta. Olemme tarkistaneet laskun uudelleen ja huomanneet, että toinen rivi oli veloitettu kahteen kertaan. Palautamme erotuksen tilillenne viiden arkipäivän kuluessa. Pahoittelemme aiheutunutta vaivaa ja vastaamme mielellämme mahdollisiin lisäkysymyksiinne asiakaspalvelunumerostamme.",
    [99, 127, 127],
  ],
  [
    "Finnish compounds",
    "Epäjärjestelmällistyttämättömyydelläänsäkäänköhän ja lentokonesuihkuturbiinimoottoriapumekaanikkoaliupseerioppilas käyttäytyivät oikeusturvatoimenpidesuunnitelmassa kunnallisvaltuustoehdokasasettelun mukaisesti.",
    [74, 87, 87],
  ],
  [
    "German compounds",
    "Die Donaudampfschifffahrtsgesellschaftskapitänsmütze, das Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz und die Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnung betreffen Kraftfahrzeughaftpflichtversicherungsbeiträge und Arbeiterunfallversicherungsgesetze.",
    [71, 97, 96],
  ],
  [
    "Italian",
    "Gentile signora, la ringraziamo per il messaggio di martedì scorso. Abbiamo controllato la fattura e constatato che il secondo articolo era stato addebitato due volte. La differenza sarà accreditata sul suo conto entro cinque giorni lavorativi.",
    [57, 66, 66],
  ],
  [
    "Dutch",
    "Geachte mevrouw, hartelijk dank voor uw bericht van afgelopen dinsdag. We hebben de factuur nogmaals gecontroleerd en vastgesteld dat het tweede artikel dubbel in rekening is gebracht. Het verschil wordt binnen vijf werkdagen teruggestort.",
    [46, 67, 66],
  ],
  [
    "Turkish",
    "Sayın Yılmaz, geçen salı günkü mesajınız için teşekkür ederiz. Faturayı yeniden inceledik ve ikinci kalemin iki kez ücretlendirildiğini gördük. Farkı beş iş günü içinde hesabınıza iade edeceğiz. Yaşattığımız rahatsızlıktan dolayı özür dileriz.",
    [69, 102, 72],
  ],
  [
    "Vietnamese",
    "Kính gửi bà Lan, cảm ơn bà đã gửi tin nhắn vào thứ Ba tuần trước. Chúng tôi đã kiểm tra lại hóa đơn và nhận thấy mục thứ hai bị tính phí hai lần. Chúng tôi sẽ hoàn lại khoản chênh lệch trong vòng năm ngày làm việc.",
    [61, 103, 58],
  ],
  [
    "capitals",
    "IMPORTANT NOTICE: ALL EMPLOYEES MUST COMPLETE THE SECURITY TRAINING BEFORE THE END OF THE MONTH. FAILURE TO DO SO WILL RESULT IN THE SUSPENSION OF ACCESS TO COMPANY SYSTEMS. PLEASE CONTACT YOUR MANAGER IF YOU HAVE ANY QUESTIONS ABOUT THIS REQUIREMENT.",
    [54, 55, 55],
  ],
  [
    "names of constants",
    "MAX_BODY_BYTES DEFAULT_TIMEOUT_MS HTTP_STATUS_CODES ROUTER_REPLY_BASE_URL AI_GATEWAY_API_KEY NODE_OPTIONS XDG_CONFIG_HOME LD_LIBRARY_PATH ENOENT EACCES ECONNREFUSED ETIMEDOUT SIGTERM SIGKILL",
    [47, 47, 47],
  ],
  [
    "SQL",
    "SELECT customers.id, COUNT(orders.id) AS total FROM customers LEFT JOIN orders ON orders.customer_id = customers.id WHERE orders.created_at >= '2026-01-01' AND customers.country IN ('DE','FI') GROUP BY customers.id HAVING COUNT(orders.id) > 3 ORDER BY total DESC LIMIT 50;",
    [67, 67, 67],
  ],
  [
    "base64",
    "X+zrZv/IbzjZUnhsbWlsecLbwjndTpG0ZynXOif7V+lrhrJz/zT84Z1rgE7/Wj9XR62k6qIvHUnAHlLdt4dbS9RzXjomXhbu4D9ZcYubXQMBnAfYtsUfkNo6Zm7sE6s1TgdAhWK+24tgzgXB3s/jrRa3IjCWfeAfZAt+Rym0n85LInd31N0fxhxviE9IZB0CtNEh0/0yjLCLVTH8rNq/iu8tEn3je5QrqtBhReVLDGGaHyIyey67z77Hj1Vkr+Od5/bAEXdujbfNMwtUF0/Xb30CFrYSOHpf/PuB5vCRloN5Ammb5CyKjkb7u0UBcmUX6GsixWoYn3YlptpJCBskUSxiQjLN0iF3EpTfuzEKygAKDfasi2a2ltkO8G/e+2SjGVgeJ9587QD/HOUL",
    [265, 282, 282],
  ],
  [
    "hexadecimal",
    "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e96b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4bd4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab354e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8aef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39de7f6c011776e8db7",
    [233, 230, 230],
  ],
  [
    "minified code",
    'artsofalanguagemodel\'sstream.constisTaken=(response:Response)=>upstream.type==="gateway"||isJson(response);const{taken,stream}=awaitcallModel(target,options,isTaken);try{if(taken===undefined){forawait(constpartofstream){pieces.add(part);awaitattempt.send(pieces.take());}}elseif(isJson(taken)){consttext=awaitreadText(taken.body);if(isStreamText(text)===true){constfetch=async()=>newResponse(text,{headers:asStream});constown={...target,upstream:{...upstream,fetch}};awaitaskModel(own,options,{attempt,pieces});return;}constbody:unknown=upstream.type==="gateway"?parseJson(text):null;//Thegateway\'sfo',
    [158, 156, 156],
  ],
  [
    "a table",
    "| name10 | 130 | ---------- |\n| name11 | 143 | ----------- |\n| name12 | 156 | ------------ |\n| name13 | 169 | ------------- |\n| name14 | 182 | -------------- |\n| name15 | 195 | --------------- |\n| name16 | 208 | ---------------- |\n| name17 | 221 | ----------------- |\n| name18 | 234 | ------------------ |\n| name19 | 247 | ------------------- |\n| name20 | 260 |  |\n| name21 | 273 | - |",
    [115, 113, 113],
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
