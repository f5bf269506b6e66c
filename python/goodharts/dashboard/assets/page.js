// Client-side timer: when to poll for new data, and when to report that the server is gone.
// Dash drops the response to a request that was sent again meanwhile, and training takes all cores: a page that polled
// at every tick would never see a response that takes longer than a tick.
const LOST_AFTER = 6, ASK_AGAIN_AFTER = 10; // ticks
let answeredLast = -1, heardAt = 0;

window.dash_clientside = Object.assign({}, window.dash_clientside, {
    goodharts: {
        // asked: tick of the last request; answered: tick of the last request with a response.
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
