// How an iteration runs its loop (solvers/iteration.hpp includes it).
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/solvers/iteration.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
template <class Loop>
void iteration<A, M>::enqueue_loop(Loop& loop) {
    const auto body = [&loop] { loop.iterate(); };
    loop.start();
    prepare(body); // while the devices begin
    run_.launch(body);
    ended_ = scalar_value{&run_, control::state};
    enqueue_check(loop.r(), loop.direction());
}

template <linear_operator A, preconditioner<typename A::value_type> M>
template <class Loop>
bool iteration<A, M>::solve_at_once(Loop& loop) {
    enqueue_start(loop.r(), loop.direction());
    for (const scalar* norm : {&bb_of_b_, &vv_, &av_})
        require_ordinary<T>(*norm, loop_state::extreme);
    first_rr_ = rr_;
    set_controls(bb_of_b_, rr_);
    enqueue_loop(loop);
    const auto now = run_.get({bb_of_b_.number(), first_rr_.number(), ended_.number(),
                               control::iteration, control::residual, rr_.number(), vv_.number()});
    loop_report end{static_cast<loop_state>(static_cast<std::uint8_t>(now[2])),
                    static_cast<std::int64_t>(now[3]), now[4]};
    if (end.state == loop_state::extreme) return false;
    bb_ = now[0];
    start_rr_ = now[1];
    xx_ = now[6];
    result_.rhs_norm = std::sqrt(bb_);
    read_normal_residual();
    const bool at_start = end.state == loop_state::converged && end.iterations == 0;
    if (at_start) end.state = loop_state::running;
    double rr = at_start ? now[1] : now[5];
    if (!at_start || options_.initial_guess) rr = confirmed(loop.r(), loop.direction(), rr);
    if (check_convergence(end, rr)) return true;
    ++result_.replacements;
    iterate(loop);
    return true;
}

template <linear_operator A, preconditioner<typename A::value_type> M>
template <class Loop>
void iteration<A, M>::iterate(Loop& loop) {
    // The scaling is part of what is recorded.
    if (recorded_factor_ != a_.factor() || recorded_scaled_ != used_m_.scaled)
        run_.forget_recording();
    recorded_factor_ = a_.factor();
    recorded_scaled_ = used_m_.scaled;
    for (;;) {
        one_cycle_ = doubled_ && Loop::cycles && !Loop::whole;
        set_controls(result_.iterations);
        loop_report end;
        double rr = 0;
        if ((run_.mode() != execution_mode::eager || Loop::whole) && !watched()) {
            enqueue_loop(loop);
            const auto now = run_.get({ended_.number(), control::iteration, control::residual,
                                       rr_.number(), vv_.number()});
            end = {static_cast<loop_state>(static_cast<std::uint8_t>(now[0])),
                   static_cast<std::int64_t>(now[1]), now[2]};
            rr = now[3];
            xx_ = now[4];
            read_normal_residual();
        } else {
            const auto body = [&loop] { loop.iterate(); };
            loop.start();
            prepare(body);
            end = repeat(body);
            rr = true_residual(loop.r(), loop.direction());
        }
        rr = confirmed(loop.r(), loop.direction(), rr);
        if (check_convergence(end, rr)) break;
        ++result_.replacements;
    }
    this->end(loop.r(), loop.direction());
}

} // namespace krylith
