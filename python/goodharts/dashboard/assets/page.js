// What the page must know without being told: when to ask what is new, and that nobody answers any more.
// The clock ticks in the browser alone. Dash drops the answer to a question that was asked once more meanwhile, and
// training takes all cores: a page that asked at every tick would never see an answer that takes longer than that.
const LOST_AFTER = 6, ASK_AGAIN_AFTER = 10; // ticks
let answeredLast = -1, heardAt = 0;

window.dash_clientside = Object.assign({}, window.dash_clientside, {
    goodharts: {
        // asked: the tick of the last question; answered: the tick of the last one that was answered.
        ask(tick, asked, answered) {
            const isWaiting = asked > answered && tick - asked < ASK_AGAIN_AFTER;
            return isWaiting ? window.dash_clientside.no_update : tick;
        },
        lost(tick, answered, isOver) {
            if (answered !== answeredLast) {
                answeredLast = answered;
                heardAt = tick || 0;
            }
            if ((tick || 0) - heardAt < LOST_AFTER) {
                return [true, ""];
            }
            return [false, isOver
                ? "Training is over; this page shows how it ended."
                : "Disconnected: training does not answer. Its terminal says how it ended."];
        },
    },
});
