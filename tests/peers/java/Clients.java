import com.google.genai.Client;
import com.google.genai.gaos.models.decisions.ChoiceAnswer;
import com.google.genai.gaos.models.decisions.ChoiceQuestion;
import com.google.genai.gaos.models.decisions.ChoiceQuestionInstructions;
import com.google.genai.gaos.models.decisions.CreateDecisionRequest;
import com.google.genai.gaos.models.decisions.Input;
import com.google.genai.gaos.models.decisions.NoulAnswer;
import com.google.genai.gaos.models.decisions.NoulQuestion;
import com.google.genai.gaos.models.decisions.NoulQuestionInstructions;
import com.google.genai.gaos.models.decisions.ScoreAnswer;
import com.google.genai.gaos.models.decisions.ScoreQuestion;
import com.google.genai.gaos.models.decisions.ScoreQuestionInstructions;
import com.google.genai.gaos.utils.RetryConfig;
import com.google.genai.types.HttpOptions;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.decisions.DecisionChoiceOption;
import com.openai.models.decisions.DecisionCreateParams;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Asks a question of each kind with a vendor's client from Maven Central, and prints its answers or its error as JSON.
 * Usage: Clients CLIENT ADDRESS KEY COUNT. COUNT calls run at once.
 */
class Clients {
  static final String STATE = "You have won the lottery. ".repeat(100);
  static final String ASK = "What is it?";
  static final Map<String, String> KINDS = Map.of("prize", "a lottery", "other", "the rest");
  static final List<String> LEVELS = List.of("fine", "fraud");

  static Callable<Object> openai(String address, String key) {
    var client = OpenAIOkHttpClient.builder().apiKey(key).baseUrl(address + "/v1").maxRetries(0).build();
    var kind = DecisionCreateParams.Question.Choice.builder().name("kind").instructions(ASK);
    KINDS.forEach((value, text) ->
        kind.addChoice(DecisionChoiceOption.builder().value(value).description(text).build()));
    var level = DecisionCreateParams.Question.Score.builder().name("level").instructions(ASK);
    LEVELS.forEach(label ->
        level.addLevel(DecisionCreateParams.Question.Score.Level.builder().label(label).build()));
    var scam = DecisionCreateParams.Question.Predicate.builder().name("scam").instructions(ASK);
    var params = DecisionCreateParams.builder().model("gpt-6-luna").input(STATE)
        .addQuestion(scam.build()).addQuestion(kind.build()).addQuestion(level.build()).build();
    return () -> {
      var answers = new HashMap<String, Object>();
      for (var answer : client.decisions().create(params).validate().answers()) {
        answer.predicate().ifPresent(it -> answers.put(it.name().orElseThrow(), it.probability()));
        answer.choice().ifPresent(it -> {
          var shares = new HashMap<String, Double>();
          it.probabilities().forEach(each -> shares.put(each.value().asString(), each.probability()));
          answers.put(it.name().orElseThrow(), shares);
        });
        answer.score().ifPresent(it -> {
          var shares = new HashMap<Long, Double>();
          it.probabilities().forEach(each -> shares.put(each.value(), each.probability()));
          answers.put(it.name().orElseThrow(), shares);
        });
      }
      return answers;
    };
  }

  static Callable<Object> google(String address, String key) {
    var client = Client.builder().apiKey(key).httpOptions(HttpOptions.builder().baseUrl(address).build()).build();
    var body = CreateDecisionRequest.builder().model("gemini-decision-1").input(Input.of(STATE)).questions(Map.of(
        "scam", NoulQuestion.builder().instructions(NoulQuestionInstructions.of(ASK)).build(),
        "kind", ChoiceQuestion.builder().instructions(ChoiceQuestionInstructions.of(ASK)).criteria(KINDS).build(),
        "level", ScoreQuestion.builder().instructions(ScoreQuestionInstructions.of(ASK)).criteria(LEVELS).build()))
        .build();
    return () -> {
      var response = client.decisions.create().body(body).retryConfig(RetryConfig.noRetries()).call().createDecisionResponse().orElseThrow();
      var answers = new HashMap<String, Object>();
      response.answers().orElseThrow().forEach((name, answer) -> {
        if (answer instanceof NoulAnswer it) answers.put(name, it.noul().orElseThrow());
        if (answer instanceof ChoiceAnswer it) answers.put(name, it.probabilities().orElseThrow());
        if (answer instanceof ScoreAnswer it) answers.put(name, it.probabilities().orElseThrow());
      });
      return answers;
    };
  }

  public static void main(String[] words) throws Exception {
    var ask = words[0].equals("openai-java") ? openai(words[1], words[2]) : google(words[1], words[2]);
    Callable<Object> call = () -> {
      try {
        return ask.call();
      } catch (Exception error) {
        return Map.of("error", error.getClass().getSimpleName(), "message", String.valueOf(error.getMessage()));
      }
    };
    var pool = Executors.newCachedThreadPool();
    var results = new ArrayList<Future<Object>>();
    for (int index = 0; index < Integer.parseInt(words[3]); index++) results.add(pool.submit(call));
    var answers = new ArrayList<Object>();
    for (var result : results) answers.add(result.get());
    System.out.println(new ObjectMapper().writeValueAsString(answers));
    System.exit(0);
  }
}
